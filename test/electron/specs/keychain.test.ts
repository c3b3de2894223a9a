import { expect, test } from 'vitest'
import { startSimulatorProcess } from '#test/berth/browser.ts'
import { Berth } from '#test/berth/electron.ts'
import { startKeyring, unlockKeyring } from '#test/integration/platform/keyring.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk({ panel: false, notices: false })

async function start(): Promise<Berth> {
  const berth = await Berth.start({ env: desk.session.env, flags: [] })
  desk.ends(berth)
  await berth.shown()
  return berth
}

test('a keyring locked at start is reported, and used once unlocked', async ({ onTestFinished }) => {
  const sim = await startSimulatorProcess()
  onTestFinished(() => sim.stop())
  const status = async (berth: Berth) => Object.values((await berth.state()).accounts)[0]?.connection.status
  const unlocked = await startKeyring(desk.session, 'password')
  const first = await start()
  await first.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
  await expect.poll(() => status(first)).toBe('online')
  await first.quit()
  await first.ended
  await unlocked.end()

  await startKeyring(desk.session)
  const second = await start()
  const page = await second.page()
  await page.getByText('Unlock the keychain and try again').first().waitFor()
  await unlockKeyring(desk.session, 'password')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => status(second)).toBe('online')
  await expect.poll(async () => (await second.state()).app.keychainProblem).toBeUndefined()
})
