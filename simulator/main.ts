import { FlagError, readFlags } from './flags.ts'
import { startSimulator } from './simulator.ts'

const usage =
  'npm run simulator -- [--port 0] [--seed 7] [--speed 60] [--offers 500] [--no-limits] [--calm] [--flaky 0.12] ' +
  '[--deployment interface|public[,name=value…]]'

/** The simulator as a program: prints one JSON line once it listens, and stops on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const simulator = await startSimulator(readFlags(process.argv.slice(2)))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      void simulator.close().then(() => process.exit(0))
    })
  }
  const { baseUrl, apiKey, userId } = simulator
  process.stdout.write(`${JSON.stringify({ base_url: baseUrl, api_key: apiKey, user_id: userId })}\n`)
}

main().catch((error: unknown) => {
  const known = error instanceof FlagError
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  if (known) process.stderr.write(`Usage: ${usage}\n`)
  process.exit(known ? 2 : 1)
})
