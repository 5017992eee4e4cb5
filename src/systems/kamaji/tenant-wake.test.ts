import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, Ref } from "@slipway/kube";
import { tenant } from "../../kinds/kamaji/testing.ts";
import { PAUSED } from "./names.ts";
import type { Runtimes } from "./runtimes.ts";
import type { Stores } from "./stores.ts";
import { tenantController } from "./tenant-controller.ts";

test("what a runtime reports of a tenant wakes that one, and of an unknown one nobody", async () => {
  let report: (id: string) => void = () => assert.fail("nobody listens");
  const runtimes = {
    onChange(listener: typeof report) {
      report = listener;
      return () => {};
    },
  } as unknown as Runtimes;
  const controller = tenantController(runtimes, {} as Stores);
  const woken: Ref[] = [];
  controller.listen!((ref) => woken.push(ref));
  const { metadata, ...rest } = tenant();
  const paused = { ...rest, metadata: { ...metadata, annotations: { [PAUSED]: "" } } };
  const context = { cache: { get: () => paused }, clean: <T>(value: T) => value } as unknown as Context;
  const ref = { namespace: metadata.namespace!, name: metadata.name };
  await controller.reconcile(ref, context);

  report("of nobody");
  assert.deepEqual(woken, []);
  report(metadata.uid);
  assert.deepEqual(woken, [ref]);
});
