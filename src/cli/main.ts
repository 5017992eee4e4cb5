/**
 * The `slipway` command: a file per verb, loaded when it is called. A verb reads its options, starts what it needs and ends with an exit
 * code; an error is printed as one line with a remedy.
 */
import { runCommand } from "./program.ts";

/** As other commands end when what they are piped into has seen enough (`| head`): a signal would have ended them. */
const SIGPIPE_EXIT = 141;

/** What runs until it is stopped is stopped; any other verb ends here. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code !== "EPIPE" || process.listenerCount("SIGTERM") === 0) process.exit(code === "EPIPE" ? SIGPIPE_EXIT : 1);
      process.kill(process.pid, "SIGTERM");
    });
}

endWithReader();
process.exitCode = await runCommand(process.argv.slice(2));
