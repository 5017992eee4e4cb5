import assert from "node:assert/strict";
import { test } from "node:test";
import { terminalPicture } from "./terminal-picture.ts";

test("a terminal's picture has the command and its lines as text, in their columns, and is as large as they are", () => {
  const picture = terminalPicture("slipway status", "NAME   <READY>\n└─a    1 & 1\n");
  assert.match(picture, /^<svg [^>]* width="163" height="82" /);
  const texts = [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, text]) => text!.replaceAll("&#160;", "_"));
  assert.deepEqual(texts, ["$_slipway_status", "NAME___&lt;READY&gt;", "└─a____1_&amp;_1"]);
});
