/** A screen of a terminal that is drawn over and over, and given back as it was. */
export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

/** What is typed. */
export interface Keys {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: "data", listener: (typed: Buffer) => void): unknown;
  off(event: "data", listener: (typed: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

const [OWN_SCREEN, HOME, REST, LINE_REST, USUAL_SCREEN] = [
  "\x1b[?1049h\x1b[?25l",
  "\x1b[H",
  "\x1b[J",
  "\x1b[K",
  "\x1b[?25h\x1b[?1049l",
];
/** `q`, `Q` and Ctrl-C, which raw terminals send as a byte. */
const QUIT: readonly number[] = [0x71, 0x51, 0x03];
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is sent.
const COLOUR = /\x1b\[[\d;]*m/y;

/** Draws lines over the whole terminal until it is closed; calls `quit` when `q` or Ctrl-C is typed. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #keys: Keys;
  readonly #typed: (typed: Buffer) => void;

  constructor(terminal: Terminal, keys: Keys, quit: () => void) {
    this.#terminal = terminal;
    this.#keys = keys;
    this.#typed = (typed) => {
      if (typed.some((byte) => QUIT.includes(byte))) quit();
    };
    if (keys.isTTY) keys.setRawMode?.(true);
    keys.on("data", this.#typed);
    keys.resume();
    terminal.write(OWN_SCREEN);
  }

  /** Shows as many lines as there is room for, the last one below all others. */
  draw(lines: readonly string[], last: string): void {
    const { columns = 80, rows = 24 } = this.#terminal;
    const fit = lines.slice(0, Math.max(0, rows - 1));
    const shown = [...fit, ...Array<string>(Math.max(0, rows - 1 - fit.length)).fill(""), last];
    const text = shown.map((line) => `${clipped(line, columns)}${LINE_REST}`).join("\r\n");
    this.#terminal.write(`${HOME}${text}${REST}`);
  }

  close(): void {
    this.#keys.off("data", this.#typed);
    if (this.#keys.isTTY) this.#keys.setRawMode?.(false);
    this.#keys.pause();
    this.#terminal.write(USUAL_SCREEN);
  }
}

/** The line in no more than so many characters; colours count for none, and end with it. */
export function clipped(line: string, width: number): string {
  let [out, seen, hasColour] = ["", 0, false];
  for (let at = 0; at < line.length && seen < width; ) {
    COLOUR.lastIndex = at;
    const colour = COLOUR.exec(line)?.[0];
    const next = colour ?? String.fromCodePoint(line.codePointAt(at)!);
    out += next;
    at += next.length;
    if (colour === undefined) seen++;
    else hasColour = true;
  }
  return hasColour ? `${out}\x1b[0m` : out;
}
