/**
 * Ends the process of a test file that doesn't end by itself. As long as a socket or timer is open, the process stays after its tests, and
 * the runner waits for it without a limit: one forgotten `close` would stop the whole suite. Loaded into every test file by `--import`.
 * Also names what is thrown outside of tests: of a file that can't be loaded, the runner itself shows neither name nor line.
 * TEST_END_MS: how long closing may take. Default: two minutes, which is enough on a busy machine.
 */
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

const PATIENCE_MS = Number(process.env.TEST_END_MS ?? 120_000);

// The runner itself loads this, too, and so may processes and threads that tests start.
const isTestFile = isMainThread && /\.test\.[cm]?[jt]s$/.test(process.argv[1] ?? "");
if (isTestFile) {
  process.on("uncaughtExceptionMonitor", (error) => console.error(error));
  after(() => {
    // A platform timer: it lets the process end before it fires.
    setTimeout(() => {
      const open = [...new Set(process.getActiveResourcesInfo())].join(", ");
      console.error(`${process.argv[1]}: the tests are over, but the process does not end. Still open: ${open}`);
      process.exit(1);
    }, PATIENCE_MS).unref();
  });
}
