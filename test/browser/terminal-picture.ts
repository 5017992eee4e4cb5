const LINE = 18;
const LETTER = 8.4;
const EDGE = 14;

/** What a command prints, as a picture (SVG) of a terminal. Pure. */
export function terminalPicture(command: string, output: string): string {
  const lines = [`$ ${command}`, ...output.trimEnd().split("\n")];
  const width = Math.ceil(Math.max(...lines.map((line) => [...line].length)) * LETTER + 2 * EDGE);
  const height = lines.length * LINE + 2 * EDGE;
  const rows = lines.map(
    (line, at) =>
      `<text x="${EDGE}" y="${EDGE + (at + 0.75) * LINE}"${at === 0 ? ' fill="#8fd18f"' : ""}>${escaped(line)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="100%" height="100%" rx="6" fill="#101418"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#e6e9ec">`,
    ...rows,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Columns stay apart: of spaces, pictures draw one. */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", " ": "&#160;" };

const escaped = (text: string): string => text.replace(/[&<> ]/g, (letter) => ENTITIES[letter]!);
