/**
 * How a command reaches a shell without standing on a command line, which every user of the machine can read: the shell is given a fixed
 * text, and reads the command from its input, by its length. What follows in the input is the command's.
 */

/** Bash where there is one, as the original had it. */
const RUN =
  'if command -v bash >/dev/null 2>&1; then exec $t bash -c "eval \\"\\$SLIPWAY_COMMAND\\""; fi; exec $t sh -c "eval \\"\\$SLIPWAY_COMMAND\\""';

/** Longer ones are refused: the system gives a variable no more room (MAX_ARG_STRLEN). */
export const MOST_COMMAND_BYTES = 100_000;

export interface Wrapped {
  /** What SSH is given. */
  remote: string;
  /** What goes before the input. */
  head: Buffer;
}

/** `sudo`: a user's name. On the other side the command is ended after `seconds`, too, where there is `timeout(1)`. */
export function wrapped(command: string, { sudo, seconds }: { sudo?: string; seconds: number }): Wrapped {
  const head = Buffer.from(command);
  // One byte at a time: what was read too much would be lost for the command.
  const read = `SLIPWAY_COMMAND=$(dd bs=1 count=${head.length} 2>/dev/null; echo x); SLIPWAY_COMMAND=\${SLIPWAY_COMMAND%x}; export SLIPWAY_COMMAND`;
  const limit = `t=; if command -v timeout >/dev/null 2>&1; then t="timeout ${Math.ceil(seconds)}"; fi`;
  return { remote: `${sudo === undefined ? "" : `sudo -n -u ${sudo} -- `}sh -c '${read}; ${limit}; ${RUN}'`, head };
}

/** Of the same fixed text for a command of this machine: the command is in the environment. */
export const LOCAL = `t=; ${RUN}`;

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
