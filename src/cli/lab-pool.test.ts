import assert from "node:assert/strict";
import { test } from "node:test";
import { linesFor } from "./lab-pool.ts";

const VIEW = {
  pool: { metadata: { name: "lab-pool" }, spec: { count: 2 } },
  instances: [],
  nodes: [],
  hosts: [
    { metadata: { name: "lab-1" }, spec: { online: true } },
    { metadata: { name: "lab-2" }, spec: { online: true, consumerRef: { name: "a" } } },
  ],
} as unknown as Parameters<typeof linesFor>[1];

test("once all Nodes are Ready it says what to try, with a machine that is in use as the victim", () => {
  const lines = linesFor("ready", VIEW, "/lab", "90.0 s").join("\n");
  assert.match(lines, /^All Nodes \(2\) are Ready after 90\.0 s/);
  assert.match(lines, /dd if=\/dev\/zero of=\/lab\/lab-2\/disk\.img/);
  assert.match(lines, /annotate bmh lab-2 'reboot\.metal3\.io=\{"mode":"hard"\}'/);
  assert.match(lines, /kubectl delete instancepool lab-pool/);
});

test("where no machine is seen in use as yet, the first of the lab is the victim", () => {
  const lines = linesFor("ready", { ...VIEW, hosts: VIEW.hosts.slice(0, 1) }, "/lab", "90.0 s").join("\n");
  assert.match(lines, /annotate bmh lab-1 /);
});

test("once the pool is gone it says that all machines are wiped, and on the way nothing", () => {
  const wiped = linesFor("wiped", VIEW, "/lab", "200.0 s").join("\n");
  assert.match(wiped, /^The pool is gone, and all 2 machines are wiped, after 200\.0 s\./);
  assert.match(wiped, /kubectl apply -f \/lab\/pool\.yaml/);
  assert.deepEqual([linesFor("going", VIEW, "/lab", ""), linesFor("on its way", VIEW, "/lab", "")], [[], []]);
});
