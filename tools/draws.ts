/** A place in a source that uses a clock, a timer or a generator of its own. */
export interface Draw {
  line: number;
  /** As it is written: `Math.random`. */
  name: string;
}

/** A method of an object is another thing than the system's timer of the same name. */
const DRAW =
  /\b(?:Date\.now|performance\.now|Math\.random|seededRandom|AbortSignal\.timeout)\b|(?<![.\w])set(?:Timeout|Interval)(?=\()|\bnew Date\(\)|"node:timers(?:\/promises)?"/;

/** All such places in a source, in order, one a line; comments do not count. */
export function drawsOf(source: string): Draw[] {
  return source.split("\n").flatMap((text, at) => {
    const code = text.replace(/^\s*(?:\/?\*|\/\/).*|\s\/\/ .*/, "");
    const name = DRAW.exec(code)?.[0];
    return name === undefined ? [] : [{ line: at + 1, name }];
  });
}
