import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { apiReference } from "../kinds/api-reference.ts";
import { system } from "../systems/system.ts";
import { ALL_KINDS } from "./kinds.ts";
import { settingsReference } from "./settings-reference.ts";
import { SYSTEMS } from "./systems.ts";

const parts = () => ({ controllers: [] });
const docs = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

test("docs/settings.md and docs/api.md are what the systems and the kinds say today", () => {
  assert.equal(settingsReference(SYSTEMS), docs("settings.md"));
  assert.equal(apiReference(ALL_KINDS.flat()), docs("api.md"));
});

test("a setting's row has the ways in which it is given, its default and its meaning", () => {
  const settings = z.object({
    word: z.string().default("ahoy").describe("what is called").meta({ env: "WORD", flag: "--word <text>" }),
    inner: z.string().optional().describe("for code alone"),
    file: z.string().optional().describe("where it is").meta({ flag: "--file <path>" }),
  });
  const text = settingsReference([
    system({ name: "sea", summary: "calls captains", kinds: [], settings, parts }),
    system({ name: "calm", summary: "does nothing", kinds: [], settings: z.object({}), parts }),
  ]);
  const [head, sea, calm] = text.split("## ");
  assert.match(head!, /^# Settings of the systems\n\nWhat may be set/);
  assert.deepEqual(sea!.split("\n"), [
    ...["sea", "", "Calls captains.", "", "| Setting | Given by | Default | Meaning |", "| --- | --- | --- | --- |"],
    '| word | `--word <text>`, `$WORD` | `"ahoy"` | What is called. |',
    "| file | `--file <path>` |  | Where it is. |",
    ...["", ""],
  ]);
  assert.equal(calm, "calm\n\nDoes nothing.\n\nNothing can be set.\n");
});
