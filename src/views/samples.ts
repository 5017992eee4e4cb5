/** The values of one scrape, by name and labels: `name{a="x",b="y"}`, as Prometheus' text format writes them. */
export type Samples = ReadonlyMap<string, Sample>;

export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", "\\": "\\", '"': '"' };

/** Reads Prometheus' text format. What is no sample is left out. Values of the same series, from several replicas, are summed up. */
export function samplesIn(...texts: readonly string[]): Samples {
  const samples = new Map<string, Sample>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    const [, name, labelled = "", number] = LINE.exec(line) ?? [];
    const value = Number(number);
    if (name === undefined || Number.isNaN(value)) continue;
    const key = `${name}{${labelled}}`;
    const labels = Object.fromEntries(
      [...labelled.matchAll(LABEL)].map(([, label, text]) => [
        label,
        text!.replaceAll(/\\(.)/g, (_, one) => ESCAPED[one] ?? one),
      ]),
    );
    samples.set(key, { name, labels, value: (samples.get(key)?.value ?? 0) + value });
  }
  return samples;
}
