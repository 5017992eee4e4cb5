/**
 * How every page looks, compared with `looks/`: where something is, how large and in which colour. Text is drawn as blocks (`block-font.ts`), so that
 * the fonts of a computer make no difference; the time stands still. A page that is meant to look otherwise is written anew with `WRITE_LOOKS=1`.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { blockFont } from "./block-font.ts";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { PAGES } from "./every-page.ts";
import { fakeConsole } from "./fake-console.ts";
import { smallWorld } from "./objects.ts";
import { type BuiltPage, builtPage } from "./page.ts";

const skip = whyNoBrowser() ?? false;
const FOLDER = join(import.meta.dirname, "looks");
const SEEN = join(tmpdir(), "slipway-looks");
const IS_WRITTEN = process.env.WRITE_LOOKS === "1";
const NOW = "2026-01-01T01:00:00Z";
/** A row that is 2 pixels lower, or a colour that differs, costs thousands. Edges that another release of Chromium draws differently cost tens. */
const MOST_PIXELS = 200;
/** Of 255, in any colour. */
const SAME = 24;
const STYLE = `
@font-face { font-family: Blocks; src: url(data:font/ttf;base64,${blockFont().toString("base64")}); }
* { font-family: Blocks !important; font-synthesis: none !important; text-rendering: geometricPrecision !important; transition: none !important; animation: none !important; caret-color: transparent !important; }
figure canvas { visibility: hidden; }`;

const SIZES: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light", viewport: { width: 1120, height: 680 } },
  dark: { colorScheme: "dark", viewport: { width: 1120, height: 680 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 680 } },
};

let built: BuiltPage;
before(async () => {
  built = await builtPage();
});
after(closeBrowser);

for (const [size, options] of Object.entries(SIZES))
  test(`every page looks as it did: ${size}`, { skip }, async (t) => {
    await using fake = await fakeConsole(built, smallWorld(NOW));
    const { page } = await openPage(t, "about:blank", { ...options, bypassCSP: true, deviceScaleFactor: 1 });
    await page.clock.setFixedTime(NOW);
    const wrong: string[] = [];
    for (const { path, title, shows } of PAGES) {
      await page.goto(fake.url + path);
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      // Some columns are left out on a phone.
      await page.getByText(shows).first().waitFor({ state: "attached" });
      await page.getByText("live", { exact: true }).waitFor();
      const picture = await taken(page);
      const name = `${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${size}.png`;
      const file = join(FOLDER, name);
      if (IS_WRITTEN) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(file, picture);
        continue;
      }
      const count = existsSync(file) ? await differing(page, readFileSync(file), picture) : Number.NaN;
      t.diagnostic(`${path}: ${count} pixels differ`);
      if (count <= MOST_PIXELS) continue;
      mkdirSync(SEEN, { recursive: true });
      writeFileSync(join(SEEN, name), picture);
      wrong.push(`${path}: ${count} pixels differ from looks/${name}; it looks as ${join(SEEN, name)}`);
    }
    assert.equal(IS_WRITTEN, false, "the pictures were written anew: look at them, and run it without WRITE_LOOKS");
    assert.deepEqual(wrong, []);
  });

async function taken(page: Page): Promise<Buffer> {
  await page.addStyleTag({ content: STYLE });
  await page.evaluate(async () => {
    await document.fonts.load("15px Blocks");
    await document.fonts.ready;
    // What is laid out again by scripts that watch sizes is there two frames later.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  return await page.screenshot({ animations: "disabled", caret: "hide" });
}

/** How many pixels differ; those of one picture alone count, too. */
async function differing(page: Page, a: Buffer, b: Buffer): Promise<number> {
  const urls = [a, b].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`) as [string, string];
  return await page.evaluate(
    async ({ urls, same }) => {
      const pixels = async (url: string): Promise<ImageData> => {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d")!;
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [one, other] = [await pixels(urls[0]), await pixels(urls[1])];
      if (one.width !== other.width || one.height !== other.height) return one.width * one.height;
      let count = 0;
      for (let at = 0; at < one.data.length; at += 4)
        if ([0, 1, 2].some((color) => Math.abs(one.data[at + color]! - other.data[at + color]!) > same)) count++;
      return count;
    },
    { urls, same: SAME },
  );
}
