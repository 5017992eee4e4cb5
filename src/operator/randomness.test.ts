import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("..", import.meta.url));

test("H19 passwords and capabilities come from the operating system's generator: nothing in production draws from another", () => {
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const production = names.filter((name) => /^(operator|systems|bootstrap|pki|machines|kube|cli)\/.*\.ts$/.test(name));
  const text = (name: string) => readFileSync(`${SOURCES}/${name}`, "utf8");
  const wrong = production.filter((name) => !name.endsWith(".test.ts") && /seededRandom|Math\.random/.test(text(name)));
  assert.deepEqual(wrong, []);
  assert.match(text("cli/operator.ts"), /random: cryptoRandom/);
  assert.match(text("cli/laptop.ts"), /random: Random = cryptoRandom/);
});
