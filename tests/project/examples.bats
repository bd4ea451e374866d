#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# examples/: the prolog runs by hand, files are read by their own tools. tests/cluster has a real Slurm.
load ../common

setup_example() {
  mkdir -p "$DIR/bin"
  ln -s "$ROOT"/busbar "$ROOT"/*_perf "$DIR/bin/"
  export PATH=$DIR/bin:$PATH
  export BUSBAR_STATE=$DIR/state BUSBAR_TEXTFILES=$DIR/textfiles BUSBAR_SPEC=$DIR/accept.toml
  export SLURMD_NODENAME=localhost
  mkdir "$BUSBAR_TEXTFILES"
  # Of the node; another test may have a Slurm here.
  # shellcheck disable=SC2016 # the script expands it
  printf '#!/bin/sh\ncat "%s/steps"\n' "$DIR" > "$DIR/bin/pgrep"
  chmod +x "$DIR/bin/pgrep"
  export SLURM_JOB_ID=7
  echo "100 slurmstepd: [7.extern]" > "$DIR/steps"
}
# specification GBPS: one node, two ranks, whose rate must reach GBPS.
specification() {
  NOISE=$'max_cv = 1.0\non_noisy = "inconclusive"' node_specification fake '"64KiB"' "$1" 1.0 1 'backend = "mpi"' > "$BUSBAR_SPEC"
  printf '[profile.%s]\nexpect = ["floor"]\n' quick standard >> "$BUSBAR_SPEC"
}
find_promtool() {
  PROMTOOL=$(command -v promtool || echo "$ROOT/build/promtool")
  PROMETHEUS=$(command -v prometheus || echo "$ROOT/build/prometheus")
  if [ ! -x "$PROMTOOL" ] || [ ! -x "$PROMETHEUS" ]; then skip "no Prometheus (make promtool)"; fi
}
# commands: every command line of the examples that begins with busbar accept, one per line.
commands() {
  sed -e ':join' -e '/\\$/{N;s/\\\n *//;bjoin' -e '}' examples/* |
    grep -oE "busbar accept (run|judge|lint) .*" | sed -e "s/['\`>|].*//" -e 's/ &&.*//'
}

@test "the prolog lets a good node pass, and does not ask again soon" {
  setup_example
  specification 0.000001
  echo "101 slurmstepd: [77.0]" >> "$DIR/steps"
  run -0 examples/slurm-prolog.sh
  [[ $output == *"another job runs here; not measured"* ]]
  [ -z "$(ls "$BUSBAR_STATE")" ]
  sed -i '/77/d' "$DIR/steps"
  mkdir "$BUSBAR_STATE/run-20200101T000000-1"
  touch -d 2020-01-01 "$BUSBAR_STATE/run-20200101T000000-1"
  run -0 examples/slurm-prolog.sh
  ls "$BUSBAR_STATE"/run-*/junit.xml
  grep -q '^interconnect_overall{system="fake",verdict="\(PASS\|INCONCLUSIVE\)"} 1$' "$BUSBAR_TEXTFILES/busbar.prom"
  touch "$BUSBAR_STATE/passed"  # an oversubscribed machine is INCONCLUSIVE, which is no pass
  run -0 examples/slurm-prolog.sh
  [ "$(find "$BUSBAR_STATE" -maxdepth 1 -type d -name 'run-*' | wc -l)" -eq 1 ]
}
@test "the prolog drains a slow node and one that cannot be judged" {
  setup_example
  specification 1000000.0
  run -1 examples/slurm-prolog.sh
  [[ $output == *"busbar-prolog: localhost: FAIL, see "* ]]
  [ ! -e "$BUSBAR_STATE/passed" ]
  rm -r "$BUSBAR_STATE"/run-*  # runs are named by the second
  printf "schema = 1\nnonsense = 1\n" > "$BUSBAR_SPEC"
  run -2 examples/slurm-prolog.sh
  [[ $output == *"no verdict (exit 2)"*"nonsense"* ]]
}
@test "busbar accept reads every command line of the examples" {
  setup_example
  specification 1.0
  local line count=0
  while read -r line; do
    line=${line//\"\$SPEC\"/$BUSBAR_SPEC}
    line=${line//\/spec\/accept.toml/$BUSBAR_SPEC}
    line=${line// accept.toml/ $BUSBAR_SPEC}
    line=${line/ run / run --dump-spec }
    line=${line/ lint / lint --dump-spec }
    echo "$line"
    NODE=localhost RUN=$DIR/run PROFILE=standard run bash -c "PROMETHEUS=(); $line"
    echo "$output"
    [ "$status" -eq 0 ]
    count=$((count + 1))
  done < <(commands)
  [ "$count" -ge 6 ]
}
@test "YAML of the examples is YAML, names in it agree, and two pods of two ranks run by its scripts" {
  /usr/bin/python3 - "$DIR" <<'PYTHON' || { [ "$?" -eq 77 ] && skip "no python3-yaml"; }
import sys
try:
    import yaml
except ImportError:
    sys.exit(77)
def documents(name):
    return {one["kind"]: one for one in yaml.safe_load_all(open(f"examples/kubernetes-{name}.yaml"))}
def has_its_volumes(container, pod):
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
def meets(service, pod):
    assert service["metadata"]["name"] == pod["subdomain"] and service["spec"]["clusterIP"] == "None"
def of_gpus(name, job, host, label):
    """A job whose pods start a rank per GPU, of which the first listens at `host`; its script is kept, for two GPUs."""
    assert job["completionMode"] == "Indexed" and job["completions"] == job["parallelism"] > 1, name
    pod = job["template"]["spec"]
    container, = pod["containers"]
    has_its_volumes(container, pod)
    gpus, (script,) = container["resources"]["limits"]["nvidia.com/gpu"], container["args"]
    term, = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname" and term["labelSelector"]["matchLabels"] == label
    assert container["env"][0]["name"] == "BUSBAR_TOKEN"
    for text, ours in ((f"--rendezvous {host}:29500 --ranks {job['completions'] * gpus} ", "--rendezvous 127.0.0.1:29500 --ranks 4 "),
                       (f"$(({gpus} * JOB_COMPLETION_INDEX + $1))", "$((2 * JOB_COMPLETION_INDEX + $1))"),
                       (f"for gpu in {' '.join(map(str, range(1, gpus)))};", "for gpu in 1;"), ("-b 1M -e 8G", "-b 1K -e 1K -n 2")):
        assert text in script, (text, script)
        script = script.replace(text, ours)
    open(f"{sys.argv[1]}/{name}", "w").write(script)
    return pod, container
for name in ("prometheus-alerts.yml", "prometheus-alerts-test.yml"):
    assert yaml.safe_load(open("examples/" + name)), name
steps = yaml.safe_load(open("examples/github-actions.yml"))["jobs"]["accept"]["steps"]
assert any("accept-run/junit.xml" in str(step) and step["if"] == "always()" for step in steps)
job, = documents("mpijob").values()
assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")
launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
assert "busbar accept run" in launcher["containers"][0]["args"][0]
has_its_volumes(launcher["containers"][0], launcher)
service, job = documents("indexed-job").values()
spec, pod = job["spec"], job["spec"]["template"]["spec"]
meets(service, pod)
arguments = dict(zip(pod["containers"][0]["args"], pod["containers"][0]["args"][1:]))
assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"] == int(arguments["--ranks"])
assert arguments["--rendezvous"].startswith(f"{job['metadata']['name']}-0.{pod['subdomain']}:")
jobset, = documents("jobset").values()
assert (jobset["apiVersion"], jobset["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
assert jobset["spec"]["network"] == {"enableDNSHostnames": True, "publishNotReadyAddresses": True}  # the subdomain is the name
group, = jobset["spec"]["replicatedJobs"]
name = jobset["metadata"]["name"]
of_gpus("jobset", group["template"]["spec"], f"{name}-{group['name']}-0-0.{name}", {"jobset.sigs.k8s.io/jobset-name": name})
kinds = documents("computedomain")
domain, service, job = kinds["ComputeDomain"], kinds["Service"], kinds["Job"]
name = job["metadata"]["name"]
pod, container = of_gpus("computedomain", job["spec"], f"{name}-0.{service['metadata']['name']}", {"job-name": name})
meets(service, pod)
assert service["spec"]["selector"] == {"job-name": name} and service["spec"]["publishNotReadyAddresses"]
assert domain["apiVersion"] == "resource.nvidia.com/v1beta1" and domain["spec"]["numNodes"] == job["spec"]["completions"]
claim, = pod["resourceClaims"]
assert claim["resourceClaimTemplateName"] == domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
assert container["resources"]["claims"] == [{"name": claim["name"]}]
assert pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["topologyKey"] == "nvidia.com/gpu.clique"
PYTHON
  setup_example
  grep -q gloo "$(dirname "$(readlink -f ./allreduce_perf)")/parts.list" || skip "without MPI host memory needs gloo"
  export BUSBAR_TOKEN=0123456789abcdef
  for name in jobset computedomain; do
    JOB_COMPLETION_INDEX=1 timeout 60 sh "$DIR/$name" &
    JOB_COMPLETION_INDEX=0 run -0 timeout 60 sh "$DIR/$name"
    echo "$output"
    wait $!
    [[ $output == *" 4 ranks on 1 node"*"# Out of bounds values : 0 OK"* ]]
  done
}
@test "shell in the examples is clean" {
  bash -n examples/slurm-prolog.sh
  bash -n examples/slurm-acceptance.sbatch
  command -v shellcheck > /dev/null || skip "no shellcheck"
  shellcheck examples/*.sh examples/*.sbatch
}
@test "promtool accepts the alerts, and they rise when they should" {
  find_promtool
  "$PROMTOOL" check rules examples/prometheus-alerts.yml
  cd examples
  "$PROMTOOL" test rules prometheus-alerts-test.yml
}
@test "Jenkins and Prometheus can read what a run writes" {
  setup_example
  specification 1000000.0
  run -1 busbar accept run "$BUSBAR_SPEC" -o "$DIR/run"
  xmllint --noout --schema tests/fixtures/junit.xsd "$DIR/run/junit.xml"
  [ "$(xmllint --xpath 'count(//testcase/failure)' "$DIR/run/junit.xml")" -eq 1 ]
  xmllint --noout "$DIR/run/report.html"
  jq -e '.overall == "FAIL" and .exit_code == 1' "$DIR/run/verdicts.json"
  grep -q '^# FAIL: Interconnect acceptance of fake$' "$DIR/run/verdicts.md"
  [ "$(column verdict "$DIR/run/verdicts.csv")" = FAIL ]
  find_promtool
  "$PROMTOOL" check metrics < "$DIR/run/metrics.prom"
}
@test "Prometheus has data for every query of the dashboard, once it has scraped a judged fleet" {
  find_promtool
  ANY_FLEET_SLOW=n3 ANY_FLEET_DEAD=n9 run_fleet "$DIR/fleet" 16 --prometheus "$DIR/metrics" > "$DIR/out" || [ "$?" -eq 1 ]
  timeout 120 /usr/bin/python3 - "$PROMETHEUS" "$DIR" <<'PYTHON'
import json, os, re, subprocess, sys, time, urllib.parse, urllib.request
prometheus, folder = sys.argv[1:]
dashboard = json.load(open("examples/grafana-dashboard.json"))
servers = []
def serve(pattern, ready, *command):
    """Starts a server on a port that it chooses itself; its output has the port, and when it is ready."""
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    servers.append(server)
    for line in server.stdout:
        if found := re.search(pattern, line): number = int(found[1])
        if ready in line: return number
    raise AssertionError(f"{command[0]} does not run")
def ask(path, **query):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}") as answer:
        return json.load(answer)["data"]
def results(expression, **query):
    expression = expression.replace("$system", "fleet")
    if query: return ask("query_range", query=expression, start=time.time() - 60, end=time.time(), **query)["result"]
    return ask("query", query=expression)["result"]
try:
    files = serve(r"port (\d+)", "Serving", sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1")
    job = {"job_name": "node", "scrape_interval": "1s", "static_configs": [{"targets": [f"127.0.0.1:{files}"]}]}
    json.dump({"scrape_configs": [job]}, open(f"{folder}/prometheus.yml", "w"))  # JSON is YAML
    port = serve(r"address=127.0.0.1:([1-9]\d*)", "ready to receive", prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                 "--web.listen-address=127.0.0.1:0")
    for _ in range(60):
        if results('interconnect_overall'): break
        time.sleep(0.5)
    variable = dashboard["templating"]["list"][1]
    assert variable["query"] == "label_values(interconnect_overall, system)"
    assert ask("label/system/values", **{"match[]": "interconnect_overall"}) == ["fleet"]
    targets = [(panel, target) for panel in dashboard["panels"] for target in panel["targets"]]
    for panel, target in targets:
        found = results(target["expr"]) if panel["type"] == "table" else results(target["expr"], step=1)
        print(panel["title"], len(found))
        assert found, target["expr"]
        assert target.get("format") == ("table" if panel["type"] == "table" else None)
        for label in re.findall(r"{{(\w+)}}", target["legendFormat"]): assert label in found[0]["metric"], (label, found[0])
    nodes = next(target["expr"] for panel, target in targets if panel["title"] == "Nodes that are not good")
    assert sorted(one["metric"]["state"] for one in results(nodes)) == ["failed", "no data"]
    assert len({panel["id"] for panel, _ in targets}) == len(dashboard["panels"]) >= 5
finally:
    for server in servers: server.kill()
PYTHON
}
