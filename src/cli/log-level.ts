import { Option } from "commander";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The option that says how much is logged on standard error. */
export function logLevel(usual: LogLevel): Option {
  return new Option("--log-level <level>", "how much is logged, on standard error").choices(LOG_LEVELS).default(usual);
}
