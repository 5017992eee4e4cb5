/**
 * What went wrong, in one word a program can test.
 * Retryable codes are tried again with back-off; terminal ones wait for a change of the object.
 */
export type Code =
  // the Kubernetes API's reasons
  | "NotFound"
  | "AlreadyExists"
  | "Conflict"
  | "Gone"
  | "Invalid"
  | "BadRequest"
  | "Forbidden"
  | "Unauthorized"
  | "MethodNotAllowed"
  | "NotAcceptable"
  | "UnsupportedMediaType"
  | "TooLarge"
  | "Throttled"
  | "Timeout"
  | "Unavailable"
  | "Internal"
  // a request whose answer never came: it may have had its effect
  | "LostAnswer"
  // machine providers
  | "NoCapacity"
  | "BadCredentials"
  | "AlreadyConfigured"
  | "Locked"
  // other devices, such as a machine's management controller
  | "UntrustedCertificate"
  | "Unsupported"
  | "NoEffect"
  // Slipway's own
  | "MissingInput"
  | "Refused"
  | "NotLeader"
  | "Undeclared"
  | "Bug";

const RETRYABLE: ReadonlySet<Code> = new Set<Code>([
  "Conflict",
  "Gone",
  "Throttled",
  "Timeout",
  "Unavailable",
  "Internal",
  "LostAnswer",
  "NoCapacity",
  "BadCredentials",
  "Unauthorized",
  "Forbidden",
  "MissingInput",
  "NotFound",
  "AlreadyExists",
  "NotLeader",
  "UntrustedCertificate",
  "NoEffect",
]);

export interface FaultOptions {
  /** What the user can do about it. */
  remedy?: string;
  /** Not before this many milliseconds from now, when the other side said so (Retry-After). */
  retryAfterMs?: number;
  /** The machine-readable answer of the other side, e.g. a `Status` of the Kubernetes API. */
  details?: unknown;
  cause?: unknown;
}

/** An error with a code, the thing it happened to, and what the user can do about it. Its message never holds a secret. */
export class Fault extends Error {
  readonly code: Code;
  readonly on: string;
  readonly remedy: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: unknown;

  constructor(code: Code, on: string, message: string, options: FaultOptions = {}) {
    super(`${on}: ${message}`, { cause: options.cause });
    this.name = "Fault";
    this.code = code;
    this.on = on;
    this.remedy = options.remedy;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
  }

  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }

  /** Message and remedy in one line: the same text for log, event and condition. */
  get advice(): string {
    return this.remedy === undefined ? this.message : `${this.message}; ${this.remedy}`;
  }
}

/** Whether `error` is a fault with one of these codes. */
export function isFault(error: unknown, ...codes: Code[]): error is Fault {
  return error instanceof Fault && (codes.length === 0 || codes.includes(error.code));
}

/** Any thrown thing as a fault; what is not one already is a defect of Slipway's own, retried all the same. */
export function asFault(error: unknown, on: string): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Fault("Internal", on, message, { cause: error });
}
