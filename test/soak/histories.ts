import { runTool } from '../../build/run.ts'

/**
 * BERTH_HISTORIES generated histories of each automation against its plain model, by default many times as many as
 * `npm test` lives. Throws where one ended otherwise; what it was is printed, with the seed that lives it again.
 */
export async function soakHistories(): Promise<string> {
  const histories = process.env['BERTH_HISTORIES'] ?? '5000'
  const code = await runTool('vitest', ['run', '--project', 'unit', 'model.test.ts'], {
    ...process.env,
    BERTH_HISTORIES: histories,
  })
  if (code !== 0) throw new Error('a history ended otherwise than its model says')
  return `${histories} of each`
}
