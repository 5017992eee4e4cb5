import { type Code, Fault, Secrets } from "@slipway/base";

/** Faults that the user can remove: by another command line, or by mending what it points at. */
const CALLERS: ReadonlySet<Code> = new Set<Code>([
  "BadRequest",
  "MissingInput",
  "Invalid",
  "Unavailable",
  "BadCredentials",
  "Unauthorized",
  "Forbidden",
]);

/** What the operating system refuses, and what can be done. */
const SYSTEM_ERRORS: Readonly<Record<string, { what: string; remedy: string }>> = {
  EADDRINUSE: {
    what: "the port is taken",
    remedy: "end what listens there, or choose another port (0: any free one)",
  },
  EADDRNOTAVAIL: {
    what: "this machine has no such address",
    remedy: "choose one of its own, 127.0.0.1 or 0.0.0.0",
  },
  EACCES: { what: "permission denied", remedy: "choose another, or correct the permissions" },
  EPERM: { what: "not permitted", remedy: "choose another, or correct the permissions" },
  EROFS: { what: "the file system is read-only", remedy: "choose another folder" },
  ENOENT: { what: "there is no such file or folder", remedy: "correct the path" },
  ENOTDIR: { what: "a part of the path is a file, not a folder", remedy: "correct the path" },
  EEXIST: { what: "it exists and is not a folder", remedy: "choose another path" },
  EISDIR: { what: "it is a folder, not a file", remedy: "correct the path" },
  ENOSPC: { what: "the disk is full", remedy: "free some space" },
  ENOTFOUND: { what: "no such host", remedy: "correct the name" },
};

/**
 * The text for the user about an error that ended the command: one line with a remedy, and the exit code. What is not expected at all
 * is printed with its stack, since it is a defect.
 */
export function trouble(error: unknown, outgoing = new Secrets()): { line: string; exitCode: number } {
  const { line, exitCode } = errorLine(error);
  return { line: outgoing.text(line), exitCode };
}

function errorLine(error: unknown): { line: string; exitCode: number } {
  if (error instanceof Fault) return { line: oneLine(error.advice), exitCode: CALLERS.has(error.code) ? 2 : 1 };
  const { code = "", path, address, port, hostname } = error as NodeJS.ErrnoException & Place;
  const known = SYSTEM_ERRORS[code];
  if (known === undefined) return { line: error instanceof Error ? String(error.stack) : String(error), exitCode: 1 };
  const on = path ?? (port === undefined ? (address ?? hostname) : `${address}:${port}`) ?? "";
  return { line: `${on}: ${known.what}; ${known.remedy}`, exitCode: 2 };
}

interface Place {
  address?: string;
  port?: number;
  hostname?: string;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
