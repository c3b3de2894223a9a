import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Call } from '../shell/command.ts'
import { appendingSink } from '../shell/redirect.ts'
import { Interrupted } from '../shell/sink.ts'

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

/** Plays a training, of as many `--epochs` as are asked for, with a progress bar; its results go into `results`. */
async function train(call: Call): Promise<number> {
  const { args, shell, run, out, err, signal } = call
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
  await run(shell, 'mkdir -p results', { out, err, input: undefined, signal })
  await save(call, 'loss.csv', `${learnt.join('\n')}\n`)
  await save(call, 'model.safetensors', randomBytes(512 * 1024))
  await out('Saved results/model.safetensors and results/loss.csv\n')
  return 0
}

async function save({ shell, signal }: Call, name: string, bytes: string | Buffer): Promise<void> {
  const write = appendingSink(shell.files, `${shell.folder}/results/${name}`, false, signal)
  await write(bytes)
}
