import type { Log } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import { logSentence } from "@slipway/base/log-sentence";
import { Option } from "commander";
import { secrets } from "./outgoing.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const FORMATS = ["text", "json"] as const;

export interface LogOptions {
  logLevel: LogLevel | "silent";
  logFormat?: (typeof FORMATS)[number];
}

/** The option that says how much is logged on standard error. */
export function logLevel(usual: LogLevel): Option {
  return new Option("--log-level <level>", "how much is logged, on standard error").choices(LOG_LEVELS).default(usual);
}

/** The option that says how the log is written. */
export function logFormat(): Option {
  return new Option("--log-format <format>", "sentences, or JSON lines; unset: text on a terminal, else json").choices(
    FORMATS,
  );
}

/** The log of a command: on a terminal for a person, else for a collector of logs. */
export function commandLog({ logLevel, logFormat }: LogOptions, { stderr } = process): Log {
  const isText = logFormat === undefined ? stderr.isTTY === true : logFormat === "text";
  if (!isText) return jsonLog({ level: logLevel, secrets });
  const colours = stderr.isTTY === true && stderr.hasColors();
  const destination = { write: (line: string) => void stderr.write(logSentence(line, { colours })) };
  return jsonLog({ level: logLevel, secrets, destination });
}
