import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { load } from "js-yaml";
import { canonical, type HarvesterConfig, merge } from "./harvester-schema.ts";

const WHOLE: HarvesterConfig = {
  server_url: "https://10.0.0.1",
  os: { ssh_authorized_keys: ["ssh-ed25519 A"] },
  install: {
    iso_url: "https://a.example/x.iso",
    management_interface: {
      interfaces: [{ hw_addr: "0c:42:a1:00:00:01" }],
      default_route: true,
      bond_options: { miimon: "100" },
    },
  },
};

const SPELLINGS: Record<string, object> = {
  snake: {
    server_url: "https://10.0.0.1",
    os: { ssh_authorized_keys: ["ssh-ed25519 A"] },
    install: {
      iso_url: "https://a.example/x.iso",
      management_interface: {
        interfaces: [{ hw_addr: "0c:42:a1:00:00:01" }],
        default_route: true,
        bond_options: { miimon: 100 },
      },
    },
  },
  camel: {
    serverUrl: "https://10.0.0.1",
    os: { sshAuthorizedKeys: ["ssh-ed25519 A"] },
    install: {
      isoUrl: "https://a.example/x.iso",
      managementInterface: {
        interfaces: [{ hwAddr: "0c:42:a1:00:00:01" }],
        defaultRoute: "true",
        bondOptions: { miimon: "100" },
      },
    },
  },
  lower: {
    serverurl: "https://10.0.0.1",
    os: { sshauthorizedkeys: ["ssh-ed25519 A"] },
    install: {
      isourl: "https://a.example/x.iso",
      managementinterface: {
        interfaces: [{ hwaddr: "0c:42:a1:00:00:01" }],
        defaultroute: true,
        bondoptions: { miimon: "100" },
      },
    },
  },
  "singular, as one value": {
    server_url: "https://10.0.0.1",
    os: { ssh_authorized_key: "ssh-ed25519 A" },
    install: {
      iso_url: "https://a.example/x.iso",
      management_interface: {
        interface: "hwAddr:0c:42:a1:00:00:01",
        default_route: true,
        bond_options: { miimon: "100" },
      },
    },
  },
};
for (const [spelling, config] of Object.entries(SPELLINGS)) {
  test(`keys are read in their spelling: ${spelling}`, () => assert.deepEqual(canonical(config), WHOLE));
}

test("an interface is named by its address, its name, or both", () => {
  const table: [string, object][] = [
    ["hwAddr:0c:42:a1:00:00:01", { hw_addr: "0c:42:a1:00:00:01" }],
    ["0c:42:a1:00:00:01", { hw_addr: "0c:42:a1:00:00:01" }],
    ["name:ens3", { name: "ens3" }],
    ["ens3", { name: "ens3" }],
    ["name:ens3,hwAddr:0c:42:a1:00:00:01", { name: "ens3", hw_addr: "0c:42:a1:00:00:01" }],
  ];
  for (const [text, read] of table) {
    const config = canonical({ install: { management_interface: { interfaces: text } } });
    assert.deepEqual(config.install!.management_interface!.interfaces, [read], text);
  }
  assert.throws(
    () => canonical({ install: { management_interface: { interfaces: ["hwAddr:nonsense"] } } }),
    /install.management_interface.interfaces/,
  );
});

test("unknown keys are left out; a value of the wrong type is named by its key, and not quoted", () => {
  assert.deepEqual(canonical({ colour: "blue", install: { colour: 1 } }), { install: {} });
  assert.throws(() => canonical({ token: { secret: "x" } }), { name: "TypeError", message: "token must be a text" });
  assert.throws(() => canonical({ install: "join-token" }), { message: "install must be a mapping" });
  assert.throws(() => canonical({ install: { automatic: "maybe" } }), {
    message: "install.automatic must be true or false",
  });
  assert.throws(() => canonical({ scheme_version: "one" }), { message: "scheme_version must be a number" });
  assert.throws(() => canonical([]), { message: "the configuration must be a mapping" });
});

test("kernel arguments win over the remote configuration, and lists of both are appended", () => {
  const fromKernel = canonical({
    token: "kernel",
    scheme_version: 1,
    os: { ssh_authorized_keys: ["a"] },
    install: { automatic: true, device: "", management_interface: { interfaces: "ens1" } },
  });
  const remote = canonical({
    token: "remote",
    server_url: "https://10.0.0.1",
    os: { hostname: "h", ssh_authorized_keys: ["b", "c"] },
    install: {
      automatic: false,
      device: "/dev/sdb",
      management_interface: { interfaces: ["ens1", "ens2"], method: "dhcp" },
    },
  });
  assert.deepEqual(merge(fromKernel, remote), {
    token: "kernel",
    scheme_version: 1,
    server_url: "https://10.0.0.1",
    os: { hostname: "h", ssh_authorized_keys: ["a", "b", "c"] },
    install: {
      automatic: true,
      device: "/dev/sdb",
      management_interface: { interfaces: [{ name: "ens1" }, { name: "ens1" }, { name: "ens2" }], method: "dhcp" },
    },
  });
});

test("merging with nothing changes nothing", () => {
  assert.deepEqual(merge(WHOLE, {}), WHOLE);
  assert.deepEqual(merge({}, WHOLE), WHOLE);
});

test("any YAML value is read, or refused with a TypeError", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.constantFrom("install", "os", "token", "scheme_version"),
      (value, key) => {
        for (const config of [value, { [key]: value }, { install: { webhooks: value, networks: { a: value } } }]) {
          try {
            canonical(config);
          } catch (error) {
            assert.ok(error instanceof TypeError);
          }
        }
      },
    ),
  );
});

test("a configuration that contains itself, or overlong aliases, ends", () => {
  const self = "&a\ninstall: *a\nos: *a\n";
  const many = `a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nos:\n  ssh_authorized_keys: *c\n`;
  for (const text of [self, many]) {
    try {
      canonical(load(text));
    } catch (error) {
      assert.ok(error instanceof Error);
    }
  }
});

test("a key __proto__ changes no prototype", () => {
  const read = canonical(load('install:\n  networks:\n    "__proto__": {method: dhcp}\n'));
  assert.equal(Object.getPrototypeOf(read.install!.networks), Object.prototype);
  assert.deepEqual(Object.keys(read.install!.networks!), []);
});
