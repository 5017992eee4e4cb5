/** Counters, gauges and histograms, written as Prometheus reads them (its text format 0.0.4). */

type Labels = Readonly<Record<string, string>>;

export interface MetricOptions<L extends string> {
  name: string;
  /** One line. */
  help: string;
  labelNames?: readonly L[];
  /** Where it is shown. */
  registers: readonly Registry[];
}

/** All that one scrape shows. */
export class Registry {
  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";
  readonly #metrics = new Map<string, Metric<string>>();

  /** Throws where the name is taken: two would be written as one. */
  register(metric: Metric<string>): void {
    if (this.#metrics.has(metric.name)) throw new Error(`a metric ${metric.name} is registered already`);
    this.#metrics.set(metric.name, metric);
  }

  /** The text of a scrape. What is asked at each scrape is asked at once. */
  async metrics(): Promise<string> {
    const texts = await Promise.all([...this.#metrics.values()].map((metric) => metric.text()));
    return `${texts.join("\n\n")}\n`;
  }
}

/** What the three have in common: a value for each combination of labels. */
abstract class Metric<L extends string, Value = unknown> {
  readonly name: string;
  readonly #help: string;
  readonly #labelNames: ReadonlySet<string>;
  protected readonly values = new Map<string, { labels: Labels; value: Value }>();

  constructor({ name, help, labelNames = [], registers }: MetricOptions<L>) {
    this.name = name;
    this.#help = help;
    this.#labelNames = new Set(labelNames);
    for (const registry of registers) registry.register(this as unknown as Metric<string>);
  }

  protected abstract readonly type: string;
  /** The lines of one combination of labels. */
  protected abstract lines(labels: Labels, value: Value): string[];
  /** Before anything was counted. */
  protected abstract none(): Value;

  async text(): Promise<string> {
    const lines = [...this.values.values()].flatMap(({ labels, value }) => this.lines(labels, value));
    const help = this.#help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    return [`# HELP ${this.name} ${help}`, `# TYPE ${this.name} ${this.type}`, ...lines].join("\n");
  }

  /** Forgets what was counted with these labels. */
  remove(labels: Partial<Record<L, string>>): void {
    this.values.delete(this.#keyOf(labels as Labels));
  }

  /** Throws for a label that was not declared. */
  protected at(labels: Partial<Record<L, string>>): { value: Value } {
    const key = this.#keyOf(labels as Labels);
    const found = this.values.get(key) ?? { labels: { ...(labels as Labels) }, value: this.none() };
    this.values.set(key, found);
    return found;
  }

  #keyOf(labels: Labels): string {
    for (const name of Object.keys(labels))
      if (!this.#labelNames.has(name)) throw new Error(`${this.name} has no label ${name}`);
    return JSON.stringify([...this.#labelNames].map((name) => labels[name]));
  }
}

/** Counts up. Without labels it is shown as 0 before it counts anything. */
export class Counter<L extends string = string> extends Metric<L, number> {
  protected readonly type = "counter";

  constructor(options: MetricOptions<L>) {
    super(options);
    if ((options.labelNames ?? []).length === 0) this.at({});
  }

  inc(labels: Partial<Record<L, string>> = {}, by = 1): void {
    this.at(labels).value += by;
  }

  protected none(): number {
    return 0;
  }

  protected lines(labels: Labels, value: number): string[] {
    return [line(this.name, labels, value)];
  }
}

/** A value that goes up and down. */
export class Gauge<L extends string = string> extends Metric<L, number> {
  protected readonly type = "gauge";
  readonly #collect: ((this: Gauge<L>) => void | Promise<void>) | undefined;

  /** `collect` is called at each scrape, to set what is shown. */
  constructor({ collect, ...options }: MetricOptions<L> & { collect?(this: Gauge<L>): void | Promise<void> }) {
    super(options);
    this.#collect = collect;
  }

  inc(labels: Partial<Record<L, string>> = {}, by = 1): void {
    this.at(labels).value += by;
  }

  set(labels: Partial<Record<L, string>>, value: number): void {
    this.at(labels).value = value;
  }

  /** Forgets all values. */
  reset(): void {
    this.values.clear();
  }

  override async text(): Promise<string> {
    await this.#collect?.call(this);
    return await super.text();
  }

  protected none(): number {
    return 0;
  }

  protected lines(labels: Labels, value: number): string[] {
    return [line(this.name, labels, value)];
  }
}

interface Observed {
  /** How many fell into each bucket, and below none of them. */
  counts: number[];
  sum: number;
}

/** Counts values by how large they are. */
export class Histogram<L extends string = string> extends Metric<L, Observed> {
  protected readonly type = "histogram";
  readonly #buckets: readonly number[];

  /** `buckets`: upper bounds, the least first. */
  constructor({ buckets, ...options }: MetricOptions<L> & { buckets: readonly number[] }) {
    super(options);
    this.#buckets = buckets;
  }

  observe(labels: Partial<Record<L, string>>, value: number): void {
    const { value: observed } = this.at(labels);
    const at = this.#buckets.findIndex((bound) => value <= bound);
    observed.counts[at === -1 ? this.#buckets.length : at]! += 1;
    observed.sum += value;
  }

  protected none(): Observed {
    return { counts: [...this.#buckets, Number.POSITIVE_INFINITY].map(() => 0), sum: 0 };
  }

  protected lines(labels: Labels, { counts, sum }: Observed): string[] {
    let below = 0;
    const buckets = counts.map((count, at) => {
      below += count;
      return line(
        `${this.name}_bucket`,
        { le: number(this.#buckets[at] ?? Number.POSITIVE_INFINITY), ...labels },
        below,
      );
    });
    return [...buckets, line(`${this.name}_sum`, labels, sum), line(`${this.name}_count`, labels, below)];
  }
}

function line(name: string, labels: Labels, value: number): string {
  const said = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${said.length === 0 ? "" : `{${said.join(",")}}`} ${number(value)}`;
}

/** As Prometheus spells what is no decimal number. */
function number(value: number): string {
  return Number.isNaN(value) ? "NaN" : String(value).replace("Infinity", "Inf").replace(/^Inf/, "+Inf");
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
