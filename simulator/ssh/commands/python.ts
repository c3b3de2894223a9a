import { randomBytes } from 'node:crypto'
import { dirname, extname } from 'node:path/posix'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'yaml'
import { has, makeFolder } from '../runs/runs.ts'
import type { Call, ShellState } from '../shell/command.ts'
import { appendingSink, Interrupted, readRegular } from '../shell/sink.ts'

/** `python3 --version`, and `python3 FILE.py`, which plays a training and does not run the file. */
export async function python(call: Call): Promise<number> {
  const { name, args, out, err } = call
  if (args[0] === '--version' || args[0] === '-V') {
    await out('Python 3.11.10\n')
    return 0
  }
  if (args.some(arg => arg.endsWith('.py'))) return train(call)
  await err(
    `${name}: this is a scripted shell and runs no programs; only \`${name} --version\` and \`${name} train.py\` work here\n`,
  )
  return 1
}

const usualEpochs = 3
const steps = 60
/** Milliseconds between two steps. */
const pace = 75
/** Characters of the bar. */
const width = 20

/** Plays a training, of as many `--epochs` as are asked for, with a progress bar. It leaves a model as its result. */
async function train(call: Call): Promise<number> {
  const { args, shell, out, signal } = call
  const epochs = Number(args[args.indexOf('--epochs') + 1]) || usualEpochs
  const { gpu } = shell.machine
  await out(`Training on ${gpu.count} x ${gpu.name}\n`)
  const learnt = ['step,loss']
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let step = 1; step <= steps; step++) {
      await setTimeout(pace, undefined, { signal, ref: false }).catch(() => {
        throw new Interrupted()
      })
      const done = epoch * steps + step
      const loss = (0.4 + 2.6 * Math.exp(-done / 70) + 0.03 * Math.sin(done)).toFixed(3)
      learnt.push(`${done},${loss}`)
      const full = Math.round((step / steps) * width)
      const bar = `${'█'.repeat(full)}${' '.repeat(width - full)}`
      const share = String(Math.round((step / steps) * 100)).padStart(3)
      await out(`\rEpoch ${epoch + 1}/${epochs}: ${share}%|${bar}| ${step}/${steps} loss=${loss}`)
    }
    await out('\n')
  }
  const files: [string, string | Buffer][] = resultPaths(shell).flatMap(path =>
    extname(path) === ''
      ? [
          [`${path}/loss.csv`, `${learnt.join('\n')}\n`],
          [`${path}/model.safetensors`, randomBytes(512 * 1024)],
        ]
      : [[path, randomBytes(512 * 1024)]],
  )
  for (const [path, bytes] of files) {
    makeFolder(shell, dirname(path))
    await appendingSink(shell.files, path, false, signal)(bytes)
    await out(`Saved ${path.replace(`${shell.folder}/`, '')}\n`)
  }
  return 0
}

/** Where a training's results belong: the files and folders that a `berth.yaml` names, or a folder `results`. */
function resultPaths({ files, folder }: ShellState): string[] {
  for (let project = folder; project !== '/'; project = dirname(project)) {
    if (!has(files, `${project}/berth.yaml`)) continue
    const spec = parse(readRegular(files, `${project}/berth.yaml`).toString('utf8'))
    return [spec?.results ?? []].flat().map(path => `${project}/${path}`)
  }
  return [`${folder}/results`]
}
