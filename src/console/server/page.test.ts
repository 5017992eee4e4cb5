import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Fault, isFault, quietLog } from "@slipway/base";
import { loadPage } from "./page.ts";
import { buildPage } from "./page-build.ts";
import { send, testConsole } from "./testing.ts";

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-page-"));
  t.after(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "assets"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

const SOURCES = {
  "main.tsx": `import "./style.css"; import { name } from "./other.ts"; document.title = name; void import("./later.ts");`,
  "other.ts": `export const name: string = "rack";`,
  "later.ts": `console.log("later");`,
  "style.css": "body { color: red; }",
};

test("the page is built from sources: hashed names, a module and a style sheet, and no script in the page itself", async (t) => {
  const source = join(folder(t, SOURCES), "main.tsx");
  const { index, files } = await buildPage(source);
  const names = [...files.keys()];
  assert.equal(names.length, 3);
  for (const name of names) assert.match(name, /^assets\/(main|later)-[A-Z0-9]{8}\.(js|css)$/);
  const [, script = ""] = /<script type="module" src="\/([^"]+)"><\/script>/.exec(index)!;
  const [, style = ""] = /<link rel="stylesheet" href="\/([^"]+)">/.exec(index)!;
  assert.equal(files.get(script)?.type, "text/javascript; charset=utf-8");
  assert.equal(files.get(style)?.type, "text/css; charset=utf-8");
  assert.match(files.get(script)!.bytes.toString(), /rack/);
  assert.doesNotMatch(index, /<script>|<style|style=|https?:/);
  assert.deepEqual([...(await buildPage(source)).files.keys()], names, "the same content has the same names");
});

test("a built page is read, and sources are not asked for then", async (t) => {
  const built = folder(t, { "index.html": "<!doctype html>", "assets/main-A.js": "1", "assets/font-B.woff2": "2" });
  const { index, files } = await loadPage({ built, source: "/nowhere/main.tsx" });
  assert.equal(index, "<!doctype html>");
  assert.deepEqual(
    [...files].map(([name, { type, bytes }]) => [name, type, String(bytes)]),
    [
      ["assets/font-B.woff2", "font/woff2", "2"],
      ["assets/main-A.js", "text/javascript; charset=utf-8", "1"],
    ],
  );
});

test("without a page, and with one that can't be built, it is said what is wrong and what to do", async (t) => {
  await assert.rejects(
    loadPage({ built: "/nowhere", source: "/nowhere/main.tsx" }),
    (error) => isFault(error, "NotFound") && /was not built; build the bundle anew: make bundle/.test(error.advice),
  );
  const broken = join(folder(t, { "main.tsx": `import "./missing.ts";` }), "main.tsx");
  await assert.rejects(
    buildPage(broken),
    (error) => isFault(error, "Invalid") && /main\.tsx:1: .*missing\.ts/.test(error.message),
  );
});

test("who is not signed in is shown no folder when the page can't be served; the log has it", async (t) => {
  const logged: string[] = [];
  const log = { ...quietLog, error: (fields: object) => void logged.push(JSON.stringify(fields)), child: () => log };
  const page = async (): Promise<never> => {
    throw new Fault("NotFound", "/opt/slipway/console-page", "the console's page was not built");
  };
  const console = await testConsole({}, { page, log });
  t.after(() => console.close());
  const { status, body } = await send(console.url, "/", { headers: { accept: "text/html" } });
  assert.equal(status, 503);
  assert.deepEqual(JSON.parse(body), { message: "console: its page can't be served; see the operator's log" });
  assert.match(logged.join(), /console-page: the console's page was not built/);
});
