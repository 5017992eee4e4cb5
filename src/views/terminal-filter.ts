/**
 * Filter for what machines write to consoles, before a terminal in a browser shows it: text, line control, colours and cursor movement pass.
 * What asks the terminal to answer, to keep something, to open something or to change its title is taken out.
 */

/** What a filter remembers between two pieces of output. */
export type Held = "ground" | "escape" | "control" | "string" | "string-escape" | "charset";

export interface Filtered {
  text: string;
  state: FilterState;
}

export interface FilterState {
  at: Held;
  /** The beginning of a sequence that has not ended. */
  begun: string;
}

export const FILTER_START: FilterState = { at: "ground", begun: "" };

/** Final bytes of control sequences that only draw: cursor, erase, insert and delete, scroll, colours, scroll region. */
const DRAWS = new Set("ABCDEFGHJKLMPSTXZ`abdefmr@su");
/** Private modes that only draw: cursor keys, wrap, cursor, alternate screen. */
const MODES = /^\?(1|6|7|12|25|47|1047|1048|1049)(;(1|6|7|12|25|47|1047|1048|1049))*$/;
/** What may follow ESC alone: save and restore the cursor, index, next line, tab, reverse index, keypad, reset. */
const SINGLE = new Set("78DEHM=>c");
const LONGEST = 64;

/** Filters a piece of output. Pure: the state goes into the next call. */
export function filterOutput(piece: string, state: FilterState = FILTER_START): Filtered {
  let { at, begun } = state;
  let text = "";
  for (const char of piece) {
    const next = STEPS[at](char, begun);
    text += next.out;
    at = next.at;
    begun = next.begun;
  }
  return { text, state: { at, begun } };
}

interface Next extends FilterState {
  out: string;
}

const ground = (out = ""): Next => ({ out, at: "ground", begun: "" });
const go = (at: Held, begun = ""): Next => ({ out: "", at, begun });

const STEPS: Readonly<Record<Held, (char: string, begun: string) => Next>> = {
  ground(char) {
    if (char === "\x1b") return go("escape", char);
    const code = char.codePointAt(0)!;
    // The 8-bit forms of control sequences.
    if (code === 0x9b) return go("control", "\x1b[");
    if (code === 0x90 || (code >= 0x98 && code <= 0x9f)) return go("string");
    if (code >= 0x80 && code < 0xa0) return ground();
    const isControl = code < 0x20 || code === 0x7f;
    return ground(isControl && !"\n\r\t\b\f\v".includes(char) ? "" : char);
  },
  escape(char, begun) {
    if (char === "[") return go("control", begun + char);
    if ("]PX^_".includes(char)) return go("string");
    if ("()*+".includes(char)) return go("charset", begun + char);
    if (char === "\x1b") return go("escape", char);
    return ground(SINGLE.has(char) ? begun + char : "");
  },
  charset: (char, begun) => ground("AB0".includes(char) ? begun + char : ""),
  control(char, begun) {
    if (char === "\x1b") return go("escape", char);
    if (/[\x20-\x3f]/.test(char)) return go("control", begun.length > LONGEST ? "\x1b[<" : begun + char);
    const parameters = begun.slice(2);
    const isMode = (char === "h" || char === "l") && MODES.test(parameters);
    return ground(isMode || (DRAWS.has(char) && /^[0-9;:]*$/.test(parameters)) ? begun + char : "");
  },
  string(char) {
    if (char === "\x1b") return go("string-escape");
    return char === "\x07" || char === "\x9c" || char === "\x18" ? ground() : go("string");
  },
  "string-escape"(char) {
    return char === "\\" ? ground() : STEPS.string(char, "");
  },
};
