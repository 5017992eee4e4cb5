import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { z } from "zod";
import { system } from "../systems/system.ts";
import { addSystemOptions, systemSettings, variableLines } from "./system-options.ts";

const systems = [
  system({
    ...{ name: "lights", summary: "lights", kinds: [], parts: () => ({ controllers: [] }) },
    onLaptop: { colour: "white", dim: true },
    settings: z.strictObject({
      colour: z.string().min(2).default("red").describe("what colour").meta({ flag: "--colour <word>", env: "COLOUR" }),
      height: z.int().optional().describe("how high").meta({ flag: "--height <metres>" }),
      dim: z.boolean().optional().describe("half the light").meta({ flag: "--dim" }),
      lamp: z.string().optional().describe("which lamp").meta({ env: "LAMP" }),
      hidden: z.string().optional(),
    }),
  }),
];

function parsed(args: string[], without?: string): Record<string, unknown> {
  const command = addSystemOptions(new Command("x").exitOverride().configureOutput({ writeErr() {} }), {
    systems,
    ...(without !== undefined && { without: ({ name }) => name === without }),
  });
  return command.parse(args, { from: "user" }).opts();
}

test("a system's settings are options of their types, with their defaults; those that the command sees to are not", () => {
  assert.deepEqual(parsed([]), {});
  const all = ["--colour", "blue", "--height", "12", "--dim"];
  assert.deepEqual(parsed(all), { colour: "blue", height: 12, dim: true });
  for (const wrong of [
    ["--height", "high"],
    ["--height", "1.5"],
    ["--colour", "x"],
    ["--lamp", "led"],
  ])
    assert.throws(() => parsed(wrong), /invalid|unknown option/);
  assert.throws(() => parsed(["--dim"], "dim"), /unknown option/);
});

test("the help has the defaults, those of a laptop where it is one; what is on there can be turned off", () => {
  const help = (isLaptop: boolean) =>
    addSystemOptions(new Command("x").configureHelp({ helpWidth: 200 }), { systems, isLaptop }).helpInformation();
  assert.match(help(false), /--colour <word> +what colour \(default: "red"\)/);
  assert.match(help(false), /--dim +half the light/);
  assert.match(help(true), /--colour <word> +what colour \(default: "white"\)/);
  assert.match(help(true), /--no-dim +do not half the light/);
  const command = addSystemOptions(new Command("x"), { systems, isLaptop: true });
  assert.deepEqual(systemSettings(command.parse(["--no-dim"], { from: "user" }).opts(), {}, systems), {
    lights: { dim: false },
  });
});

test("an option goes before a variable, and an empty variable says nothing", () => {
  const env = { COLOUR: "green", LAMP: "", HEIGHT: "3" };
  assert.deepEqual(systemSettings({}, env, systems), { lights: { colour: "green" } });
  assert.deepEqual(systemSettings({ colour: "blue", height: 0 }, { ...env, LAMP: "led" }, systems), {
    lights: { colour: "blue", height: 0, lamp: "led" },
  });
  assert.deepEqual(systemSettings({}, {}, systems), {});
  assert.equal(
    variableLines(systems),
    "  COLOUR            what colour (lights)\n  LAMP              which lamp (lights)",
  );
});
