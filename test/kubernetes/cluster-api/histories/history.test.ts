import assert from "node:assert/strict";
import { test } from "node:test";
import { askedBeforeGone, differencesOf, type Explained, type History, note, orderOf } from "./history.ts";
import { plantedIn } from "./planted.ts";

const KINDS = ["Cluster", "Machine"];
let version = 0;

/** A state of an object as a watch reports it. `event`: kind and type. */
function report(history: History, event: string, conditions: Record<string, string>, deleting = false): void {
  const [kind, type] = event.split(" ") as [string, string];
  note(history, kind, type, {
    metadata: {
      ...{ uid: `${kind}-1`, name: "quay", resourceVersion: String(++version) },
      ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    status: {
      conditions: Object.entries(conditions).map(([name, state]) => {
        const [status, reason] = state.split(" ");
        return { type: name, status, reason };
      }),
    },
  } as never);
}

/** A life of a Cluster and a Machine. */
function life(): History {
  const history: History = new Map();
  report(history, "Cluster ADDED", { Available: "Unknown NotYet" });
  report(history, "Machine ADDED", { Ready: "Unknown NotYet", Deleting: "False NotDeleting" });
  report(history, "Machine MODIFIED", { Ready: "True Ready", Deleting: "False NotDeleting" });
  report(history, "Cluster MODIFIED", { Available: "True Available" });
  report(history, "Cluster MODIFIED", { Available: "True Available" }, true);
  report(history, "Machine MODIFIED", { Ready: "False Deleting", Deleting: "True Draining" }, true);
  report(history, "Machine DELETED", { Ready: "False Deleting", Deleting: "True Draining" }, true);
  report(history, "Cluster DELETED", { Available: "True Available" }, true);
  return history;
}

const keysOf = (light: History, upstream: History, ledger: readonly Explained[] = []): string[] =>
  differencesOf({ light: [light], upstream: [upstream] }, KINDS, ledger).map((text) => text.split("\n")[0]!);

/** The life with the states of the Machine's Ready changed. */
function changed(change: (states: string[]) => string[]): History {
  const history = life();
  const { conditions } = history.get("Machine-1")!;
  conditions.set("Ready", change(conditions.get("Ready")!));
  return history;
}

test("two lives that are the same have no difference", () => {
  assert.deepEqual(keysOf(life(), life()), []);
});

test("a planted difference in a history is found: a state more, one less, another reason, another order, no condition at all", () => {
  for (const key of ["Cluster Available", "Machine Ready", "Machine Deleting"])
    assert.deepEqual(keysOf(plantedIn([life()], key)[0]!, life()), [key]);
  for (const change of [
    (states: string[]) => states.slice(1),
    (states: string[]) => states.with(1, "True Another"),
    (states: string[]) => states.toReversed(),
    (states: string[]) => states.with(0, "False NotYet"),
  ]) {
    assert.deepEqual(keysOf(changed(change), life()), ["Machine Ready"]);
    assert.deepEqual(keysOf(life(), changed(change)), ["Machine Ready"], "on either side");
  }
  const without = life();
  without.get("Machine-1")!.conditions.delete("Ready");
  assert.deepEqual(keysOf(without, life()), ["Machine Ready"]);
});

test("what the ledger explains is no difference, and what it does not is one nevertheless", () => {
  const explained = { kind: "Machine", condition: "Ready", state: /^False Planted$/, why: "" };
  const [planted] = plantedIn([life()], "Machine Ready");
  assert.deepEqual(keysOf(planted!, life(), [explained]), []);
  assert.deepEqual(keysOf(planted!, life(), [{ ...explained, condition: "Deleting" }]), ["Machine Ready"]);
  const other = changed((states) => states.with(1, "True Another"));
  assert.deepEqual(keysOf(other, life(), [explained]), ["Machine Ready"]);
});

test("objects that go in another order are another order, and who was asked before is told", () => {
  const usual = life();
  assert.deepEqual(orderOf(usual, KINDS), { made: ["Cluster", "Machine"], gone: ["Machine", "Cluster"] });
  const early = life();
  early.get("Cluster-1")!.gone = early.get("Machine-1")!.gone! - 1;
  assert.notDeepEqual(orderOf(early, KINDS), orderOf(usual, KINDS));
  assert.deepEqual(askedBeforeGone(usual, "Machine"), ["Cluster", "Machine"]);
});
