import type { IconName } from '../components/icons.ts'

interface Screen {
  /** Its name in the address. */
  id: 'instances' | 'offers' | 'activity' | 'settings'
  label: string
  icon: IconName
  /** Stands at the foot of the navigation. */
  last?: boolean
}

/** The entries of the navigation, in their order. */
export const screens: readonly Screen[] = [
  { id: 'instances', label: 'Instances', icon: 'instances' },
  { id: 'offers', label: 'Offers', icon: 'offers' },
  { id: 'activity', label: 'Activity', icon: 'activity' },
  { id: 'settings', label: 'Settings', icon: 'settings', last: true },
]
