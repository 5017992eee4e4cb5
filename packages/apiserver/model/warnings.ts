const TOTAL_LIMIT = 4096;
const TRUNCATED_TO = 256;
/** Each text has at least one character, so more of them never count. */
const MAX_KEPT = TOTAL_LIMIT + 1;

/** Adds texts for `Warning` headers. Equal ones count once in the end; more than any header can hold are not kept. */
export function addWarnings(to: string[], texts: Iterable<string>): void {
  const known = new Set(to);
  for (const text of texts) {
    if (known.size >= MAX_KEPT) return;
    if (known.has(text)) continue;
    known.add(text);
    to.push(text);
  }
}

/**
 * `Warning` headers (RFC 7234 §5.5: code, agent, quoted text) as kube-apiserver writes them: each text once, none that can't be quoted;
 * texts of more than 4096 characters together are cut to 256 each, and what is then still too much is left out.
 */
export function warningHeaders(texts: readonly string[]): { warning?: string } {
  const distinct = [...new Set(texts)].filter((text) => text !== "");
  if (distinct.length === 0) return {};
  let written = 0;
  for (const text of distinct) written += length(text);
  const kept = written <= TOTAL_LIMIT ? distinct : truncated(distinct);
  const quoted = kept.filter(isPrintable).map((text) => `299 - "${text.replace(/["\\]/g, "\\$&")}"`);
  // Headers are written as Latin-1; the text is UTF-8.
  return quoted.length === 0 ? {} : { warning: Buffer.from(quoted.join(", "), "utf8").toString("latin1") };
}

const length = (text: string): number => [...text].length;

function truncated(texts: readonly string[]): string[] {
  const kept: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= TOTAL_LIMIT) break;
    const short = [...text].slice(0, TRUNCATED_TO).join("");
    written += length(short);
    kept.push(short);
  }
  return kept;
}

function isPrintable(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}
