/** Counters and histograms as a port: who counts knows no library, and nothing is kept where nobody asks. */

/** Something that is counted. */
export interface Tally {
  /** Of the metric: `slipway_machines_bought_total`. */
  name: string;
  help: string;
  labels: readonly string[];
  /** Upper bounds: with them it is a histogram of values, without them a counter. */
  buckets?: readonly number[];
}

/** One thing that has happened. */
export interface Tallied {
  name: string;
  /** A word for each of the tally's labels. */
  labels?: Readonly<Record<string, string>>;
  /** Of a histogram: what was seen. */
  value?: number;
  /** The object that the labels name, if they name one: its series go with it. */
  of?: string;
}

export interface Tallies {
  add(tallied: Tallied): void;
  /** Removes the series of an object that is gone. */
  forget(of: string): void;
}

/** Where nothing is counted. */
export const NO_TALLIES: Tallies = { add: () => {}, forget: () => {} };
