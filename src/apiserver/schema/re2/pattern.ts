/**
 * Patterns in RE2's syntax, that of Go and so of schemas and CEL. They are matched as RE2 does, by following all ways through the
 * pattern at once: the time is in proportion to the text, whatever the pattern, where JavaScript's own expressions may try for hours.
 */
import type { Characters } from "./characters.ts";
import { type Part, type Place, parse, type Repeat } from "./syntax.ts";

/** A step of a pattern: a character to go on with, two ways to go on (the first is preferred), a place to be at, or the end. */
type Step =
  | { readonly kind: "character"; readonly has: Characters; next: number }
  | { readonly kind: "fork"; next: number; other: number }
  | { readonly kind: "place"; readonly place: Place; next: number }
  | { readonly kind: "end" };

/** Steps of the largest pattern. */
const MAX_STEPS = 100_000;

export class Pattern {
  readonly #steps: readonly Step[];
  readonly #start: number;
  /** Can match at the start of the text only. */
  readonly #anchored: boolean;

  /** Throws `SyntaxError` with Go's words for what is no pattern. */
  constructor(source: string) {
    const writer = new Writer(source);
    this.#start = writer.write(parse(source), writer.add({ kind: "end" }));
    this.#steps = writer.steps;
    const first = this.#steps[this.#start]!;
    this.#anchored = first.kind === "place" && first.place === "textStart";
  }

  /** Whether some part of the text matches. */
  test(text: string): boolean {
    return this.#run(text, 0, true) !== undefined;
  }

  /** The first part of a text that matches; undefined when none does. */
  find(text: string): string | undefined {
    const found = this.#run(text, 0, false);
    return found && text.slice(...found);
  }

  /** The parts of a text that match, up to a number of them; an empty one does not follow another at once. */
  all(text: string, limit = Infinity): string[] {
    const parts: string[] = [];
    let last = -1;
    for (let from = 0; from <= text.length && parts.length < limit; ) {
      const found = this.#run(text, from, false);
      if (found === undefined) break;
      const [start, end] = found;
      if (end > start || start !== last) parts.push(text.slice(start, end));
      last = end;
      from = end > start ? end : end + unitsOf(pointAt(text, end));
    }
    return parts;
  }

  /** From where to where the first match at or after `from` goes. `any`: whichever is found first. */
  #run(text: string, from: number, any: boolean): [start: number, end: number] | undefined {
    let now = new Threads(this.#steps);
    let next = new Threads(this.#steps);
    let found: [number, number] | undefined;
    let before = from === 0 ? -1 : lastPoint(text, from);
    let here = pointAt(text, from);
    for (let at = from; ; ) {
      if (found === undefined && (!this.#anchored || at === 0)) now.follow(this.#start, at, before, here);
      if (now.length === 0 && (found !== undefined || this.#anchored)) return found;
      const then = at + unitsOf(here);
      const after = pointAt(text, then);
      for (let i = 0; i < now.length; i++) {
        const step = this.#steps[now.stepAt(i)]!;
        if (step.kind === "end") {
          found = [now.startAt(i), at];
          if (any) return found;
          // What comes later is preferred less.
          break;
        }
        if (step.kind === "character" && here >= 0 && step.has(here))
          next.follow(step.next, now.startAt(i), here, after);
      }
      if (here < 0) return found;
      [now, next] = [next, now];
      next.clear();
      at = then;
      before = here;
      here = after;
    }
  }
}

/** The ways through a pattern that are open at a place of the text, the preferred first; of those at the same step, one. */
class Threads {
  readonly #program: readonly Step[];
  readonly #steps: Int32Array;
  readonly #starts: Int32Array;
  /** By step, in which round it was met. */
  readonly #met: Int32Array;
  readonly #open: number[] = [];
  #round = 1;
  length = 0;

  constructor(program: readonly Step[]) {
    this.#program = program;
    this.#steps = new Int32Array(program.length);
    this.#starts = new Int32Array(program.length);
    this.#met = new Int32Array(program.length);
  }

  stepAt(index: number): number {
    return this.#steps[index]!;
  }

  startAt(index: number): number {
    return this.#starts[index]!;
  }

  clear(): void {
    this.length = 0;
    this.#round++;
  }

  /** Adds what can be reached from a step between two characters (-1: none) without taking one. */
  follow(from: number, start: number, before: number, after: number): void {
    this.#open.push(from);
    for (let at = this.#open.pop(); at !== undefined; at = this.#open.pop()) {
      if (this.#met[at] === this.#round) continue;
      this.#met[at] = this.#round;
      const step = this.#program[at]!;
      if (step.kind === "fork") this.#open.push(step.other, step.next);
      else if (step.kind !== "place") {
        this.#steps[this.length] = at;
        this.#starts[this.length++] = start;
      } else if (isAt(step.place, before, after)) this.#open.push(step.next);
    }
  }
}

function isAt(place: Place, before: number, after: number): boolean {
  switch (place) {
    case "textStart":
      return before < 0;
    case "textEnd":
      return after < 0;
    case "lineStart":
      return before < 0 || before === 10;
    case "lineEnd":
      return after < 0 || after === 10;
    case "boundary":
      return isWord(before) !== isWord(after);
    case "noBoundary":
      return isWord(before) === isWord(after);
  }
}

function isWord(point: number): boolean {
  return (point >= 97 && point <= 122) || (point >= 65 && point <= 90) || (point >= 48 && point <= 57) || point === 95;
}

const pointAt = (text: string, at: number): number => text.codePointAt(at) ?? -1;
/** How many of JavaScript's units a character takes; there is one after the last, too. */
const unitsOf = (point: number): number => (point > 0xffff ? 2 : 1);

function lastPoint(text: string, end: number): number {
  const point = end > 1 ? pointAt(text, end - 2) : -1;
  return point > 0xffff ? point : pointAt(text, end - 1);
}

class Writer {
  readonly steps: Step[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  add(step: Step): number {
    if (this.steps.length >= MAX_STEPS) throw new SyntaxError(`expression too large: \`${this.#source}\``);
    return this.steps.push(step) - 1;
  }

  /** Writes the steps of a part that goes on at `next`: where it begins. */
  write(part: Part, next: number): number {
    switch (part.kind) {
      case "character":
        return this.add({ kind: "character", has: part.has, next });
      case "place":
        return this.add({ kind: "place", place: part.place, next });
      case "sequence":
        return part.parts.reduceRight((after, inner) => this.write(inner, after), next);
      case "choice":
        return part.parts
          .slice(0, -1)
          .reduceRight(
            (other, inner) => this.#fork(this.write(inner, next), other, true),
            this.write(part.parts.at(-1)!, next),
          );
      case "repeat":
        return this.#repeat(part, next);
    }
  }

  #fork(first: number, second: number, greedy: boolean): number {
    return this.add(
      greedy ? { kind: "fork", next: first, other: second } : { kind: "fork", next: second, other: first },
    );
  }

  #repeat({ of, min, max, greedy }: Repeat, next: number): number {
    let start = next;
    if (max === Infinity) {
      const loop: Step = { kind: "fork", next, other: next };
      const fork = this.add(loop);
      const again = this.write(of, fork);
      if (greedy) loop.next = again;
      else loop.other = again;
      start = min === 0 ? fork : again;
    } else for (let i = min; i < max; i++) start = this.#fork(this.write(of, start), next, greedy);
    const written = max === Infinity ? 1 : 0;
    for (let i = written; i < min; i++) start = this.write(of, start);
    return start;
  }
}
