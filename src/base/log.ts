import { type DestinationStream, type Logger as Pino, pino } from "pino";

/** Structured log lines. `child` adds fields, such as the correlation id of a reconcile, to every line under it. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

export const quietLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => quietLog,
};

/** Names of fields whose value never reaches a line, wherever they stand in the logged object. */
const SECRET_NAME =
  /^(authorization|x-auth-token|password|passwd|token|secret|apikey|api_key|metal_auth_token|userdata|user_data|kubeconfig|private_?key|data|stringdata)$/i;

export interface LogOptions {
  level?: "debug" | "info" | "warn" | "error" | "silent";
  destination?: DestinationStream;
  /** Values that are known to be secret; each occurrence in a line is replaced. See `Secrets`. */
  secrets?: Secrets;
}

/** Logs as JSON lines, with names and known values of secrets removed. */
export function jsonLog(options: LogOptions = {}): Log {
  const secrets = options.secrets ?? new Secrets();
  const sink = options.destination ?? pino.destination({ dest: 2, sync: true });
  const destination: DestinationStream = { write: (line) => sink.write(secrets.redact(line)) };
  const logger = pino(
    { level: options.level ?? "info", base: null, formatters: { log: (o) => withoutSecrets(o) } },
    destination,
  );
  return wrap(logger);
}

/** The values that must not leave the process. One set for the process: log, events and conditions all pass through it. */
export class Secrets {
  readonly #values = new Set<string>();

  /** Values under eight characters are not registered: replacing them would garble ordinary text. */
  add(value: string | undefined): void {
    if (value === undefined || value.length < 8) return;
    this.#values.add(value);
    // As it stands inside a JSON line.
    this.#values.add(JSON.stringify(value).slice(1, -1));
  }

  redact(text: string): string {
    let out = text;
    for (const value of this.#values) if (out.includes(value)) out = out.replaceAll(value, "[redacted]");
    return out;
  }
}

/** A copy of `value` in which fields with a secret's name read `[redacted]`. Errors become their code and message. */
export function withoutSecrets(value: object, depth = 0): Record<string, unknown> {
  const entries = value instanceof Error ? errorFields(value) : Object.entries(value);
  const out: Record<string, unknown> = {};
  for (const [name, item] of entries) {
    if (SECRET_NAME.test(name)) out[name] = "[redacted]";
    else if (Array.isArray(item))
      out[name] = item.map((v) => (isObject(v) && depth < 6 ? withoutSecrets(v, depth + 1) : v));
    else out[name] = isObject(item) && depth < 6 ? withoutSecrets(item, depth + 1) : item;
  }
  return out;
}

function errorFields(error: Error): [string, unknown][] {
  const code = "code" in error ? [["code", error.code] as [string, unknown]] : [];
  return [...code, ["message", error.message], ["stack", error.stack]];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function wrap(logger: Pino): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => wrap(logger.child(withoutSecrets(fields))),
  };
}
