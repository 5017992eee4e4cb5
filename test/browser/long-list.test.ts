import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, whyNoBrowser } from "./browser.ts";
import { fakeConsole } from "./fake-console.ts";
import { host, manyHosts } from "./objects.ts";
import { type BuiltPage, builtPage } from "./page.ts";

const skip = whyNoBrowser() ?? false;
const ROWS = 10_000;
let built: BuiltPage;
before(async () => {
  built = await builtPage();
});
after(closeBrowser);

test("10,000 machines scroll without a blank row, with few rows in the document", { skip }, async (t) => {
  await using fake = await fakeConsole(built, manyHosts(ROWS));
  const { page, errors } = await openPage(t, `${fake.url}/machines`);
  await page.getByText(`${ROWS} machines`).waitFor();
  const seen = await page.evaluate(async () => {
    const list = document.querySelector<HTMLElement>(".long")!;
    const box = list.getBoundingClientRect();
    const result = { blank: 0, frames: 0, most: 0 };
    const looked = (): void => {
      result.frames++;
      result.most = Math.max(result.most, list.querySelectorAll(".rows .row").length);
      for (const y of [60, box.height / 2, box.height - 10]) {
        const found = document.elementsFromPoint(box.left + 50, box.top + y);
        if (!found.some((element) => element.matches(".rows .row"))) result.blank++;
      }
    };
    // By the wheel's steps, then over the whole length in 100 jumps.
    for (let frame = 0; frame < 150; frame++) {
      list.scrollTop += frame < 50 ? 240 : (list.scrollHeight - list.clientHeight) / 100;
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      looked();
    }
    return { ...result, end: list.scrollTop + list.clientHeight >= list.scrollHeight - 1 };
  });
  assert.deepEqual({ blank: seen.blank, end: seen.end, frames: seen.frames }, { blank: 0, end: true, frames: 150 });
  assert.ok(seen.most < 120, `${seen.most} rows are in the document`);
  await page.getByRole("link", { name: "host-09999" }).waitFor();
  await page.getByRole("searchbox").fill("rack:r249 -host-09999");
  await page.getByText(`39 of ${ROWS} machines`).waitFor();
  assert.deepEqual(errors, []);
});

test("a change of one of 10,000 machines is on the screen while others change", { skip }, async (t) => {
  await using fake = await fakeConsole(built, manyHosts(ROWS));
  const { page } = await openPage(t, `${fake.url}/machines`);
  await page.getByText(`${ROWS} machines`).waitFor();
  for (let change = 2; change < 40; change++)
    fake.set(
      host("host-00001", {
        metadata: { resourceVersion: String(change) },
        status: { provisioning: { state: change === 39 ? "deprovisioning" : "preparing", ID: "" } },
      }),
    );
  await page.getByRole("row").filter({ hasText: "host-00001" }).getByText("deprovisioning").waitFor();
});

test("a name and a wait that are cut off in a window of 1,120 pixels are read in full when they are pointed at", {
  skip,
}, async (t) => {
  const name = `${"rack-17-".repeat(8)}node`;
  const waitingFor =
    "the machine to answer by its management controller, which it has not done since it was switched on";
  const status = { provisioning: { state: "preparing", ID: "" }, waitingFor };
  await using fake = await fakeConsole(built, [host(name, { status })]);
  const { page } = await openPage(t, `${fake.url}/machines`, { viewport: { width: 1120, height: 800 } });
  for (const text of [name, waitingFor]) {
    const cell = page.getByTitle(text, { exact: true });
    assert.equal(await cell.textContent(), text);
    const isCut = await cell.evaluate((element) => {
      const box = element.closest<HTMLElement>("[role=cell]")!;
      return box.scrollWidth > box.clientWidth;
    });
    assert.equal(isCut, true, text);
  }
});
