import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinResources } from "../builtin/resources.ts";
import type { Body } from "../model/served.ts";
import { convertBetween } from "./between.ts";

const events = builtinResources().filter(({ kind }) => kind === "Event");
const core = events.find(({ group }) => group === "")!;
const other = events.find(({ group }) => group === "events.k8s.io")!;

test("an Event of one group is shown as one of the other, there and back", async () => {
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e", namespace: "default" },
    involvedObject: { kind: "Pod", name: "p" },
    message: "started",
  } as unknown as Body;
  const shown = await convertBetween(event, core, other);
  assert.deepEqual(
    [shown.apiVersion, shown.note, shown.regarding],
    ["events.k8s.io/v1", "started", event.involvedObject],
  );
  const { apiVersion, message, involvedObject } = await convertBetween(shown, other, core);
  assert.deepEqual(
    { apiVersion, message, involvedObject },
    { apiVersion: "v1", message: "started", involvedObject: event.involvedObject },
  );
});
