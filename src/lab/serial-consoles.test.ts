import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { serialConsoles } from "./serial-consoles.ts";

test("a lab's machine is found by the card that its host boots from; what it said before anybody looked is there", async () => {
  const listeners: ((text: string) => void)[] = [];
  const console = {
    listen(listener: (text: string) => void) {
      listeners.push(listener);
      return () => {};
    },
  };
  const of = serialConsoles([
    { spec: { mac: "52:54:00:77:00:01" }, console },
    { spec: { mac: "52:54:00:77:00:02" }, console },
  ]);
  listeners[1]!("SeaBIOS \xe9\r\n");
  const host = (mac: string, kind = "BareMetalHost") =>
    ({
      apiVersion: "metal3.io/v1alpha1",
      kind,
      metadata: { name: "h" },
      spec: { bootMACAddress: mac },
    }) as unknown as KubeObject;
  const { tail } = (await of(host("52:54:00:77:00:02".toUpperCase())))!;
  assert.equal(Buffer.from(tail.from(0, 100)).toString("latin1"), "SeaBIOS \xe9\r\n");
  assert.equal((await of(host("52:54:00:77:00:01")))?.tail.end, 0);
  assert.equal(await of(host("52:54:00:77:00:03")), undefined);
  assert.equal(await of(host("52:54:00:77:00:02", "Instance")), undefined);
});
