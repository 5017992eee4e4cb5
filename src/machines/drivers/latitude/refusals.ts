import { type Code, Fault } from "@slipway/base";

/** One error of an answer: `code` is a word such as `SERVER_BEING_PROVISIONED`, `text` is for people. */
export interface Refusal {
  code: string;
  text: string;
}

/** What a refusal says → what it means. The first that matches counts; what matches none is about the request itself. */
const MEANINGS: readonly { says: RegExp; code: Code; remedy: string; retryAfterMs?: number }[] = [
  { says: /\blocked\b|_LOCKED/i, code: "Locked", remedy: "unlock the server at the provider" },
  {
    says: /stock|no capacity|\bno\b.* available|(unavailable|not available) (in|at)\b/i,
    code: "NoCapacity",
    remedy: "allow another metro or plan, or wait",
  },
  {
    says: /(quota|limit).*(reached|exceeded)|maximum number|LIMIT_EXCEEDED/i,
    code: "NoCapacity",
    remedy: "ask the provider to raise the account's limit, or release servers",
  },
  {
    says: /BEING_PROVISIONED|(is|being) (provisioned|deploy|reinstall)|RESCUE_MODE|in progress|disk.?eras/i,
    code: "Unavailable",
    remedy: "it is tried again; a server in rescue mode must be taken out of it",
    retryAfterMs: 30_000,
  },
  {
    says: /already (assigned|connected|exists|on|off|powered|deleted)|ALREADY_/i,
    code: "AlreadyConfigured",
    remedy: "none needed",
  },
];

/** What a 4xx answer that is neither about the key nor the path means. The API's own words stay in the message. */
export function refusal(on: string, status: number, refusals: readonly Refusal[]): Fault {
  const text = refusals.map((one) => [one.code, one.text].filter(Boolean).join(": ")).join("; ") || "without a reason";
  const message = `the API refused with ${status}: ${text}`;
  const meaning = MEANINGS.find(({ says }) => says.test(text));
  if (meaning === undefined) return new Fault("Invalid", on, message, { remedy: "correct the order" });
  const { remedy, retryAfterMs } = meaning;
  return new Fault(meaning.code, on, message, retryAfterMs === undefined ? { remedy } : { remedy, retryAfterMs });
}

const MAX_ERRORS = 5;
const MAX_TEXT_LENGTH = 300;

/** The errors of a JSON:API error body, bounded: they end in conditions and events. Nothing for a body of another shape. */
export function refusalsIn(body: string): readonly Refusal[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  const errors = (parsed as { errors?: unknown } | null)?.errors;
  if (!Array.isArray(errors)) return [];
  return errors.slice(0, MAX_ERRORS).map((error: Record<string, unknown> | null) => {
    // Some endpoints say `message` where the document's error object has `detail`.
    const said = [
      error?.source === undefined ? undefined : pointer(error.source),
      error?.detail ?? error?.message ?? error?.title,
    ];
    const text = said.filter((part) => typeof part === "string").join(" ");
    return {
      code: typeof error?.code === "string" ? error.code.slice(0, 60) : "",
      text: text.slice(0, MAX_TEXT_LENGTH),
    };
  });
}

/** `/data/attributes/name` → `name`. */
function pointer(source: unknown): string | undefined {
  const path = (source as { pointer?: unknown } | null)?.pointer;
  return typeof path === "string" ? path.split("/").at(-1) : undefined;
}
