/** Debian's Chromium, driven by Playwright. */
import { accessSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const PROGRAM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Why there is no browser; undefined: there is one. */
export function whyNoBrowser(): string | undefined {
  try {
    accessSync(PROGRAM);
    return undefined;
  } catch {
    return `there is no ${PROGRAM}: apt-get install chromium, or set CHROMIUM`;
  }
}

let running: Promise<Browser> | undefined;

/** One browser for the tests of a file. */
export const browser = (): Promise<Browser> =>
  (running ??= chromium.launch({
    executablePath: PROGRAM,
    // Letters are drawn alike, whatever the computer's fontconfig says of hints and of colours at their edges.
    args: ["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text"],
    env: { ...process.env, HOME: "/tmp" },
  }));

/** Ends it. */
export async function closeBrowser(): Promise<void> {
  await (await running)?.close();
}

export interface OpenPage {
  page: Page;
  /** Errors of scripts, and what the content security policy refused. */
  errors: string[];
}

/** A page of its own, in a session of its own; closed with the test. */
export async function openPage(t: TestContext, url: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) errors.push(message.text());
  });
  await page.goto(url);
  return { page, errors };
}
