import assert from "node:assert/strict";
import { test } from "node:test";
import type { MachineRow } from "../lab/pool/rows.ts";
import { MachineTable } from "./machine-table.ts";

const ROW: MachineRow = {
  machine: "lab-1",
  host: "preparing",
  instance: "-",
  node: "-",
  doing: "waiting for the wipe",
};

function out(over: { isTTY?: boolean; columns?: number } = {}) {
  const texts: string[] = [];
  return { texts, stream: { ...over, write: (text: string) => texts.push(text) } };
}

test("in a log each machine's news is one line, what is waited for is none", () => {
  const { texts, stream } = out();
  const shown = new MachineTable(stream, () => "1.0 s", "INSTANCE");
  shown.show([ROW]);
  shown.show([{ ...ROW, doing: "waiting for something else" }]);
  shown.show([{ ...ROW, host: "available" }]);
  assert.deepEqual(texts, ["    1.0 s  lab-1  preparing, -, node -\n", "    1.0 s  lab-1  available, -, node -\n"]);
});

test("on a terminal the table is drawn over itself, no line longer than the terminal is wide", () => {
  const { texts, stream } = out({ isTTY: true, columns: 24 });
  const shown = new MachineTable(stream, () => "1.0 s", "INSTANCE");
  shown.show([ROW]);
  shown.show([ROW]);
  const [first, second] = texts as [string, string];
  assert.equal(second, `\x1b[2A${first}`);
  const drawn = first.replaceAll("\x1b[2K", "").replaceAll("\x1b[J", "");
  for (const line of drawn.split("\n")) assert.ok(line.length <= 23, line);
  assert.match(drawn, /^MACHINE +HOST +I\n/);
});
