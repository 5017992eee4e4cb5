import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeMachine } from "./testing.ts";

/** The n-th client gets the address 10.0.0.n, and stays until it is ended. */
const UDHCPC = `#!/bin/sh
echo "$*" >>"$RUN/asked"
echo "eth0 10.0.0.$(wc -l <"$RUN/asked")" >"$RUN/lease"
exec cat "$RUN/forever"
`;

test("asking for an address again ends the client that has the old one, and takes the new one on the same card", {
  timeout: 30_000,
}, async () => {
  const machine = new FakeMachine();
  machine.card("eth0", "52:54:00:00:00:0a");
  machine.card("eth1", "52:54:00:00:00:0b");
  machine.file("bin/udhcpc", UDHCPC);
  machine.file("bin/ip", "#!/bin/sh\n");
  try {
    const done = await machine.sh(`
      chmod +x ${machine.folder}/bin/*
      PATH=${machine.folder}/bin:$PATH
      export RUN
      mkfifo "$RUN/forever"
      SERVER=http://10.0.0.1 BOOT_MAC=52:54:00:00:00:0a
      connect
      echo "$CARD $ADDRESS"
      first=$dhcp_clients
      connect
      echo "$CARD $ADDRESS"
      wait $first
      echo "ended by $?"
      kill $dhcp_clients`);
    assert.equal(done, "eth0 10.0.0.1\neth0 10.0.0.2\nended by 143\n");
    const asked = await machine.sh('cat "$RUN/asked"');
    assert.deepEqual(
      asked
        .trim()
        .split("\n")
        .map((line) => line.match(/-i \S+/)?.[0]),
      ["-i eth0", "-i eth0"],
    );
  } finally {
    machine.close();
  }
});
