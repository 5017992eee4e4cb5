"""Reads texts as the programs do that they are for: pykickstart, PyYAML and cloud-init. One question as JSON on standard input, one answer
as JSON on standard output."""

import json
import os
import sys
import tempfile


def kickstart(question):
    """Each text as Anaconda of a release reads it: the values, or what it says against it."""
    from pykickstart.parser import KickstartParser
    from pykickstart.version import makeVersion

    def read(text):
        parser = KickstartParser(makeVersion(question["version"]))
        try:
            parser.readKickstartFromString(text)
        except Exception as error:
            return {"error": str(error)}
        handler = parser.handler
        network = handler.network.network[0]
        return {
            "error": None,
            "users": [[user.name, user.password, user.isCrypted, user.groups] for user in handler.user.userList],
            "keys": [[key.username, key.key] for key in handler.sshkey.sshUserList],
            "url": [handler.url.url, handler.url.proxy],
            "network": [network.device, network.bootProto, network.ip, network.netmask, network.gateway, network.nameserver],
            "hostname": network.hostname,
            "disks": [handler.ignoredisk.onlyuse, handler.clearpart.drives, handler.bootloader.bootDrive],
            "partitions": [[part.mountpoint, part.size, part.grow, part.disk] for part in handler.partition.partitions],
            "volumes": [[volume.mountpoint, volume.size, volume.grow] for volume in handler.logvol.lvList],
            "language": [handler.lang.lang, handler.keyboard.x_layouts, handler.timezone.timezone, handler.timezone.isUtc],
            "packages": handler.packages.packageList,
            "groups": [group.name for group in handler.packages.groupList],
            "environment": handler.packages.environment,
            "scripts": [[script.type, script.script, script.errorOnFail, script.inChroot] for script in handler.scripts],
            "root": handler.rootpw.lock,
        }

    return [read(text) for text in question["texts"]]


def yaml(question):
    """Each text as YAML 1.1."""
    import yaml

    return [yaml.safe_load(text) for text in question["texts"]]


def schema(question):
    """What `cloud-init schema` says against each text."""
    from cloudinit.config.schema import SchemaValidationError, validate_cloudconfig_schema
    import yaml

    def problems(text):
        try:
            validate_cloudconfig_schema(yaml.safe_load(text), strict=True)
        except SchemaValidationError as error:
            return str(error)
        return None

    return [problems(text) for text in question["texts"]]


def rendered(config):
    """The files that each of cloud-init's renderers writes for a network."""
    from cloudinit.distros.rhel import Distro
    from cloudinit.net import eni, netplan, network_manager, network_state, networkd, sysconfig

    answer = {}
    for module in (eni, netplan, network_manager, networkd, sysconfig):
        name = module.__name__.split(".")[-1]
        with tempfile.TemporaryDirectory() as target:
            state = network_state.parse_net_config_data(config)
            settings = Distro.renderer_configs["sysconfig"] if name == "sysconfig" else {}
            module.Renderer(settings).render_network_state(state, target=target)
            for folder, _, files in os.walk(target):
                for file in files:
                    with open(os.path.join(folder, file)) as text:
                        answer[name] = answer.get(name, "") + text.read()
    return answer


def network(question):
    import yaml

    return rendered(yaml.safe_load(question["text"]))


def drive(question):
    """A config drive as cloud-init's data source reads it, and its network as the renderers write it."""
    from cloudinit.sources.helpers.openstack import ConfigDriveReader, convert_net_json

    with tempfile.TemporaryDirectory() as root:
        for path, text in question["files"].items():
            file = os.path.join(root, path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", newline="") as out:
                out.write(text)
        read = ConfigDriveReader(root).read_v2()
    macs = {link["ethernet_mac_address"]: "eth0" for link in read["networkdata"]["links"]}
    return {
        "metadata": read["metadata"],
        "userdata": read["userdata"].decode(),
        "network": rendered(convert_net_json(read["networkdata"], known_macs=macs)),
    }


def seed(question):
    """What cloud-init's data source finds by its settings, and what it makes of user data that include others."""
    from cloudinit import helpers
    from cloudinit.sources.DataSourceNoCloud import DataSourceNoCloudNet
    from cloudinit.user_data import UserDataProcessor
    import yaml

    with tempfile.TemporaryDirectory() as root:
        paths = helpers.Paths({"cloud_dir": root, "run_dir": root})
        if "included" in question:
            message = UserDataProcessor(paths).process(question["included"])
            parts = [part for part in message.walk() if not part.is_multipart()]
            return {"parts": [[part.get_content_type(), part.get_payload(decode=True).decode()] for part in parts]}
        source = DataSourceNoCloudNet(yaml.safe_load(question["settings"]), None, paths)
        found = source._get_data()
        return {"found": found, "metadata": source.metadata, "userdata": (source.userdata_raw or b"").decode()}


def json_schema(question):
    """What the JSON schema in a file says against each value."""
    import jsonschema

    with open(question["schema"]) as text:
        validator = jsonschema.Draft7Validator(json.load(text))
    return [[error.message for error in validator.iter_errors(value)] for value in question["values"]]


json.dump(globals()[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
