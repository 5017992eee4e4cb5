import { styleText } from "node:util";

const LEVELS: Readonly<Record<number, { word: string; colour: "gray" | "cyan" | "yellow" | "red" }>> = {
  20: { word: "debug", colour: "gray" },
  30: { word: "info", colour: "cyan" },
  40: { word: "warning", colour: "yellow" },
  50: { word: "error", colour: "red" },
};

/**
 * A line of `jsonLog` as a person reads it: time of day (UTC), level unless it is info, the message, and the fields behind it. An error is
 * its message; its stack is left to JSON. A line that is none is given back as it is.
 */
export function logSentence(line: string, { colours = false } = {}): string {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, msg, ...fields } = parsed;
  const { word, colour } = LEVELS[Number(level)] ?? { word: String(level), colour: "gray" };
  const at = new Date(Number(time)).toISOString().slice(11, 19);
  const marked = word === "info" ? "" : `${colours ? styleText(colour, word, { validateStream: false }) : word}: `;
  const behind = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  return `${at} ${[`${marked}${msg ?? ""}`, ...behind].join("  ")}\n`;
}

function fieldText(value: unknown): string {
  const { message } = (value ?? {}) as { message?: unknown };
  const text = typeof value === "string" ? value : typeof message === "string" ? message : JSON.stringify(value);
  return /[\s=]/.test(text) ? JSON.stringify(text) : text;
}
