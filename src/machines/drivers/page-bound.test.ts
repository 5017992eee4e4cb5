import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { PageBound } from "./page-bound.ts";

const endless = (says: RegExp) => (error: unknown) =>
  isFault(error, "Unavailable") && says.test(error.message) && error.retryAfterMs === 60_000;

test("a list ends with an error at the third page in a row that repeats what was read; two are taken", () => {
  const pages = new PageBound("account");
  pages.read(250, 0);
  for (let round = 0; round < 3; round++) {
    pages.read(0, 250);
    pages.read(0, 250);
    pages.read(1, 250);
  }
  pages.read(0, 250);
  pages.read(0, 250);
  assert.throws(() => pages.read(0, 250), endless(/its last 3 pages repeated/));
});

test("a list of more than two hundred pages ends with an error", () => {
  const pages = new PageBound("account");
  for (let page = 0; page < 200; page++) pages.read(1, page);
  assert.throws(() => pages.read(1, 200), endless(/more than 200 pages/));
});

test("a list of more than fifty thousand entries ends with an error", () => {
  const pages = new PageBound("account");
  pages.read(25_000, 0);
  pages.read(25_000, 25_000);
  assert.throws(() => pages.read(1, 50_000), endless(/more than 50000 entries/));
});
