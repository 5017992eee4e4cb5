import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("H19 passwords and capabilities come from the operating system's generator: nothing in production draws from another", () => {
  const names = ["src", "packages"].flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const production = names.filter((name) =>
    /^(packages\/kube|src\/(operator|systems|bootstrap|pki|machines|cli))\/.*\.ts$/.test(name),
  );
  const text = (name: string) => readFileSync(`${ROOT}/${name}`, "utf8");
  const wrong = production.filter(
    (name) => !/test(ing)?\.ts$|fake-api/.test(name) && /seededRandom|Math\.random/.test(text(name)),
  );
  assert.deepEqual(wrong, []);
  assert.match(text("src/cli/operator.ts"), /random: cryptoRandom/);
  assert.match(text("src/laptop/laptop.ts"), /random: Random = cryptoRandom/);
});
