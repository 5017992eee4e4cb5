import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Ended } from "./child.ts";
import { restartBySsh } from "./restart.ts";
import type { OpenShell } from "./shell.ts";

const MACHINE = { address: "10.0.0.5", macs: ["52:54:00:00:00:01", "52:54:00:00:00:02"] };

function shell(answer: () => Partial<Ended>): { open: OpenShell; asked: string[]; isOpen: () => boolean } {
  const asked: string[] = [];
  let open = 0;
  return {
    asked,
    isOpen: () => open > 0,
    open: async (host) => {
      open++;
      return {
        async run(command) {
          asked.push(`${host} ${command}`);
          return { code: 0, output: "", errors: "", isCut: false, ...answer() };
        },
        close: async () => void open--,
      };
    },
  };
}

test("N34 a system restarts its machine only where it has the machine's card, and a connection that breaks is that", async () => {
  const signal = new AbortController().signal;
  const good = shell(() => ({ code: 0 }));
  await restartBySsh(good.open, MACHINE, signal);
  assert.match(
    good.asked.join(),
    /^10\.0\.0\.5 cat .*grep -qiFx -e 52:54:00:00:00:01 -e 52:54:00:00:00:02 \|\| exit 3; sudo -n/,
  );
  assert.equal(good.isOpen(), false);
  const broken = shell(() => {
    throw new Fault("LostAnswer", "10.0.0.5", "the connection broke");
  });
  await restartBySsh(broken.open, MACHINE, signal);
  const other = shell(() => ({ code: 3 }));
  await assert.rejects(restartBySsh(other.open, MACHINE, signal), /another machine answers there/);
  await assert.rejects(
    restartBySsh(shell(() => ({ code: 1 })).open, MACHINE, signal),
    /does not restart: sudo ended with 1/,
  );
  assert.equal(other.isOpen(), false);
});
