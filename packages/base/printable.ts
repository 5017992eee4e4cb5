/** Sequences that drive a terminal: CSI, OSC and the like with their end, or where it is cut off; then a single escape. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

/** Control characters but for tab and line end; those that turn the direction of text or are not seen; halves of characters. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Foreign text, safe to print: it moves no cursor, changes no colour, hides nothing and reads from left to right. */
export function printable(text: string): string {
  return text
    .replaceAll(SEQUENCES, "")
    .replaceAll("\r\n", "\n")
    .replaceAll("\r", " ")
    .replaceAll(UNSEEN, "")
    .toWellFormed();
}
