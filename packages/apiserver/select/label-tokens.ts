/** A piece of a label selector: a key or value, a sign, or the end of the text. */
export interface Token {
  is: "word" | "sign" | "end";
  text: string;
}

const SPACE = /[ \t\r\n]*/y;
const WORD = /[^ \t\r\n=!(),<>]+/y;
const SIGN = /==|!=|[=!(),<>]/y;

/** The pieces of a selector, taken one by one. */
export class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  /** The next one, which stays. */
  get first(): Token {
    return this.#tokens[this.#at]!;
  }

  take(): Token {
    return this.#tokens[this.#at++]!;
  }
}

/** The pieces of a selector in order, the end last. `in` and `notin` are words: where they stand makes them operators. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (form: RegExp): string => {
    form.lastIndex = at;
    const found = form.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  for (;;) {
    take(SPACE);
    if (at >= text.length) return [...tokens, { is: "end", text: "" }];
    const word = take(WORD);
    tokens.push(word === "" ? { is: "sign", text: take(SIGN) } : { is: "word", text: word });
  }
}
