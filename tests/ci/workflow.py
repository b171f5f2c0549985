#!/usr/bin/env python3
"""workflow.py BUILD EXAMPLE ACTION: installs BUILD and runs the workflows of EXAMPLE in a copy of it, step by step as their YAML has them: GitHub's with
ACTION's steps in the place of `uses: .../assay@...`, GitLab's with the template that it includes. Then with a kernel that is wrong. Skips (77)
where PyYAML is missing."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

try:
    import yaml
except ImportError:
    print("python3-yaml is not installed (ci/setup check installs it)")
    sys.exit(77)

FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
# Steps that GitHub's own actions take, and why nothing of them is needed here.
GITHUB_OWN = {"actions/checkout": "the copy is the checkout", "actions/upload-artifact": "uploads", "github/codeql-action/upload-sarif": "uploads"}


class Reference(yaml.YAMLObject):
    """GitLab's !reference [job, key]."""
    yaml_tag = "!reference"
    yaml_loader = yaml.SafeLoader

    @classmethod
    def from_yaml(cls, loader, node):
        one = cls()
        one.path = loader.construct_sequence(node)
        return one


def fail(what, log=""):
    sys.exit(f"{log}\nworkflow test: {what}")


class Runner:
    """The part of a CI service that steps see: variables, files by which they talk to it, conditions."""

    def __init__(self, folder, prefix):
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "CMAKE_"))}
        self.env |= {"ASSAY_PREFIX": str(prefix), "GITHUB_WORKSPACE": str(folder), "CI_PROJECT_DIR": str(folder)}
        self.files = Path(tempfile.mkdtemp(dir=folder.parent))
        for name in FILES:
            (self.files / name).touch()
            self.env[name] = str(self.files / name)
        self.failed = False
        self.log = ""

    def run(self, name, script, env=None, shell=("bash", "-e", "-o", "pipefail", "-c")):
        done = subprocess.run([*shell, script], cwd=self.folder, env=self.env | (env or {}), capture_output=True, text=True, timeout=900)
        self.log += f"== {name}\n{done.stdout}{done.stderr}"
        for line in (self.files / "GITHUB_ENV").read_text().splitlines():
            self.env.update([line.split("=", 1)])
        for line in (self.files / "GITHUB_PATH").read_text().splitlines():
            if line not in self.env["PATH"].split(":"):
                self.env["PATH"] = line + ":" + self.env["PATH"]
        self.failed |= done.returncode != 0
        print(f"-- {name}: {done.returncode}")

    def wanted(self, step, inputs):
        condition = step.get("if", "success()")
        if condition == "always()":
            return True
        named = re.fullmatch(r"inputs\.(\w+) != ''", condition)
        if not named and condition != "success()":
            fail(f"an 'if' that this test does not know: {condition}")
        return not self.failed and (not named or inputs[named[1]] != "")


def filled(text, inputs):
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: str(inputs[found[1]]), text)


def github(runner, workflow, action):
    for job in yaml.safe_load(workflow.read_text())["jobs"].values():
        for step in job["steps"]:
            name = step.get("name", step.get("uses"))
            if not runner.wanted(step, {}):
                continue
            if "run" in step:
                runner.run(name, step["run"])
                continue
            used = step["uses"].split("@")[0]
            if used in GITHUB_OWN:
                continue
            if not used.endswith("/assay"):
                fail(f"a step that this test does not know: {used}")
            composite(runner, name, step.get("with", {}), action)


def composite(runner, name, given, action):
    description = yaml.safe_load(action.read_text())
    unknown = set(given) - set(description["inputs"])
    if unknown:
        fail(f"{name}: inputs that the action does not have: {unknown}")
    inputs = {key: given.get(key, one["default"]) for key, one in description["inputs"].items()}
    for step in description["runs"]["steps"]:
        if runner.wanted(step, inputs):
            env = {key: filled(value, inputs) for key, value in step.get("env", {}).items()} | {"GITHUB_ACTION_PATH": str(action.parent)}
            runner.run(f"{name}: {step['name']}", step["run"], env)


def gitlab(runner, file, template):
    document = yaml.safe_load(template.read_text()) | yaml.safe_load(file.read_text())
    for name, job in document.items():
        if name.startswith(".") or "extends" not in job:
            continue
        base = document[job["extends"]]
        job = base | job | {"variables": base["variables"] | job["variables"]}
        lines = []
        for line in job["before_script"] + job["script"]:
            lines += document[line.path[0]][line.path[1]] if isinstance(line, Reference) else [line]
        runner.env |= {k: v for k, v in job["variables"].items() if k not in runner.env and "$" not in v}
        runner.run(name, "\n".join(lines))


def tests_of(junit):
    root = ET.parse(junit).getroot()
    cases = root.findall(".//testcase")
    if int(root.get("tests")) != len(cases) or int(root.get("failures")) != len(root.findall(".//failure")):
        fail(f"{junit}: the counts are not those of its cases")
    return cases


def check_passed(runner):
    if runner.failed:
        fail("the workflow of a right kernel fails", runner.log)


def try_github(here, example, action, prefix):
    folder = here / "right kernel"
    shutil.copytree(example, folder)
    runner = Runner(folder, prefix)
    workflow = folder / ".github/workflows/parity.yml"
    github(runner, workflow, action)
    check_passed(runner)
    reports = folder / "assay-reports"
    report = json.loads((reports / "report.json").read_text())
    if len(tests_of(reports / "junit.xml")) < len(report["cases"]) or len(tests_of(folder / "build/assay/parity.rms_norm.xml")) < 50:
        fail("not a testcase a case")
    if "PASS" not in (runner.files / "GITHUB_STEP_SUMMARY").read_text() or not (reports / "report.html").stat().st_size:
        fail("no summary, or no page", runner.log)

    folder = here / "wrong"
    shutil.copytree(example, folder)
    kernel = folder / "kernels/rms_norm.cc"
    source = kernel.read_text()
    kernel.write_text(source.replace("+ args.eps)", "+ 2 * args.eps)"))
    line = 1 + next(i for i, text in enumerate(source.splitlines()) if "AssayStatus rms_norm" in text)
    runner = Runner(folder, prefix)
    # ctest is asked to fail later: what is looked at is what the action reports.
    text = workflow.read_text().replace("ctest --test-dir build --output-on-failure", "ctest --test-dir build || true")
    wrong = folder / ".github/workflows/parity.yml"
    wrong.write_text(text)
    github(runner, wrong, action)
    if not runner.failed:
        fail("the workflow of a wrong kernel passes", runner.log)
    if f"::error file=kernels/rms_norm.cc,line={line},title=rms_norm swift%3Arms_norm" not in runner.log:
        fail(f"no annotation at kernels/rms_norm.cc:{line}", runner.log)
    if "tests failed out of 1" not in runner.log:
        fail("ctest passes a wrong kernel", runner.log)
    reports = folder / "assay-reports"
    failures = [one for one in tests_of(reports / "junit.xml") if one.find("failure") is not None]
    report = json.loads((reports / "report.json").read_text())
    sarif = json.loads((reports / "assay.sarif").read_text())["runs"][0]["results"]
    wrong_cases = sum(one["verdict"] != "pass" for one in report["cases"])
    if not 0 < wrong_cases <= len(failures) or len(sarif) != wrong_cases:
        fail(f"{wrong_cases} cases failed, {len(failures)} in JUnit, {len(sarif)} in SARIF")
    at = sarif[0]["locations"][0]["physicalLocation"]
    if at["artifactLocation"]["uri"] != "kernels/rms_norm.cc" or at["region"]["startLine"] != line:
        fail(f"SARIF is at {at}")
    if "FAIL" not in (runner.files / "GITHUB_STEP_SUMMARY").read_text():
        fail("the summary has no FAIL")


def try_gitlab(here, example, template, prefix):
    folder = here / "gitlab"
    shutil.copytree(example, folder)
    runner = Runner(folder, prefix)
    gitlab(runner, folder / ".gitlab-ci.yml", template)
    check_passed(runner)
    tests_of(folder / "junit.xml")
    if json.loads((folder / "gl-code-quality-report.json").read_text()) != []:
        fail("a right kernel has code quality findings")
    kernel = folder / "kernels/rms_norm.cc"
    kernel.write_text(kernel.read_text().replace("+ args.eps)", "+ 2 * args.eps)"))
    runner = Runner(folder, prefix)
    gitlab(runner, folder / ".gitlab-ci.yml", template)
    findings = json.loads((folder / "gl-code-quality-report.json").read_text())
    if not runner.failed or not findings or findings[0]["location"]["path"] != "kernels/rms_norm.cc":
        fail("GitLab's findings", runner.log)
    if len({one["fingerprint"] for one in findings}) != len(findings):
        fail("two findings have one fingerprint")


def main():
    build, example, action = (Path(one).resolve() for one in sys.argv[1:])
    if "ASSAY_SANITIZE:BOOL=ON" in (build / "CMakeCache.txt").read_text():
        print("a build with sanitizers is not for installing")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        prefix = here / "prefix"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        try_github(here, example, action, prefix)
        try_gitlab(here, example, action.parent / "templates/assay.gitlab-ci.yml", prefix)
    print("pass")


main()
