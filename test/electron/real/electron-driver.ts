import type { Driver, Start } from '../driver.ts'

export async function driveElectron(_program: string, _start: Start): Promise<Driver> {
  throw new Error('not yet')
}
