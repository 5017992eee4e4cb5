import { type DestinationStream, type Logger as Pino, pino } from "pino";
import type { Log } from "./log.ts";
import { Secrets } from "./secrets.ts";

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
    { level: options.level ?? "info", base: null, formatters: { log: (fields) => withoutSecrets(fields, secrets) } },
    destination,
  );
  return wrap(() => logger, secrets);
}

/**
 * A copy of `value` in which fields with a secret's name read `[redacted]`, and texts hold no known secret and no control character.
 * Errors become their code and message.
 */
export function withoutSecrets(value: object, secrets: Secrets, depth = 0): Record<string, unknown> {
  const entries = value instanceof Error ? errorFields(value) : Object.entries(value);
  const out: Record<string, unknown> = {};
  for (const [name, item] of entries) {
    if (SECRET_NAME.test(name)) out[name] = "[redacted]";
    else if (Array.isArray(item)) out[name] = item.map((one) => outgoing(one, secrets, depth));
    else out[name] = outgoing(item, secrets, depth);
  }
  return out;
}

function outgoing(value: unknown, secrets: Secrets, depth: number): unknown {
  if (typeof value === "string") return secrets.text(value);
  return isObject(value) && depth < 6 ? withoutSecrets(value, secrets, depth + 1) : value;
}

function errorFields(error: Error): [string, unknown][] {
  const code = "code" in error ? [["code", error.code] as [string, unknown]] : [];
  return [...code, ["message", error.message], ["stack", error.stack]];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** `logger` is called for the first line: most reconciles log nothing, so what their lines would begin with is not prepared. */
function wrap(logger: () => Pino, secrets: Secrets): Log {
  return {
    debug: (fields, message) => logger().debug(fields, secrets.text(message)),
    info: (fields, message) => logger().info(fields, secrets.text(message)),
    warn: (fields, message) => logger().warn(fields, secrets.text(message)),
    error: (fields, message) => logger().error(fields, secrets.text(message)),
    child(fields) {
      let made: Pino | undefined;
      return wrap(() => {
        made ??= logger().child(withoutSecrets(fields, secrets));
        return made;
      }, secrets);
    },
  };
}
