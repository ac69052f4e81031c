/** Tools that Debian does not have, built from the Go module proxy once and kept: minutes for the first, then none. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#test/support/server-process.ts';

const bin = join(root, 'node_modules/.cache/go-tools');

const tools = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.20.2',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
  compose: 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2',
} as const;

const kubernetes = 'k8s.io/kubernetes@v1.34.1';

/** Why they cannot be built here; undefined when they can. */
export function missingGo(): string | undefined {
  const found = spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
  return found
    ? undefined
    : 'Go is needed here to build the tools that check these files: https://go.dev/dl/';
}

/** The path of a tool. */
export function goTool(name: keyof typeof tools): string {
  const file = join(bin, name === 'compose' ? 'cmd' : name);
  if (!existsSync(file)) {
    console.error(`building ${tools[name]}`);
    execFileSync('go', ['install', tools[name]], { env: { ...process.env, GOBIN: bin }, stdio: 'inherit' });
  }
  return file;
}

/** The folder of the sources of Kubernetes, which have the schemas of its objects. */
export function kubernetesSources(): string {
  const output = execFileSync('go', ['mod', 'download', '-json', kubernetes], { encoding: 'utf8' });
  return (JSON.parse(output) as { Dir: string }).Dir;
}
