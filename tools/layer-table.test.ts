import assert from "node:assert/strict";
import { test } from "node:test";
import { isUpwards, namesASystem } from "./layer-table.ts";

test("inside a part, a file imports its own folder and those below", () => {
  const from = "packages/apiserver/verbs/create.ts";
  assert.equal(isUpwards(from, "packages/apiserver/verbs/update.ts"), false);
  assert.equal(isUpwards(from, "packages/apiserver/core/call.ts"), false);
  assert.equal(isUpwards(from, "packages/apiserver/dispatch/route.ts"), true);
  assert.equal(isUpwards(from, "packages/apiserver/server.ts"), true);
  assert.equal(isUpwards("packages/apiserver/server.ts", from), false);
});

test("folders below one of the layers belong to it", () => {
  assert.equal(isUpwards("src/netboot/dhcp/codec/message.ts", "src/netboot/sockets/udp.ts"), false);
  assert.equal(isUpwards("src/netboot/dhcp/codec/message.ts", "src/netboot/http/range.ts"), true);
});

test("a folder that the table does not name may not be used, nor use others", () => {
  assert.equal(isUpwards("src/netboot/new/file.ts", "src/netboot/sockets/udp.ts"), true);
  assert.equal(isUpwards("src/netboot/service/service.ts", "src/netboot/new/file.ts"), true);
});

test("parts without inner layers are free inside", () => {
  assert.equal(isUpwards("src/cli/main.ts", "src/cli/lab.ts"), false);
});

test("the command, the operator, the laptop and the machines know the kinds of no system by name", () => {
  const kind = "src/kinds/harvester/instance.ts";
  for (const part of ["cli/lab-pool", "operator/operator", "laptop/laptop", "machines/drivers/inventory/driver"])
    assert.equal(namesASystem(`src/${part}.ts`, kind), true, part);
  assert.equal(namesASystem("src/systems/harvester/pool-plan.ts", kind), false);
  assert.equal(namesASystem("src/lab/pool/view.ts", kind), false);
  assert.equal(namesASystem("src/machines/provider.ts", "src/kinds/slipway/machine-provider.ts"), false);
});
