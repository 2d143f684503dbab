import type { Bus, Offer, Reader, Subscription } from '@fixpoint/messaging/bus';

/** Something that a module wants from the bus, started by the transport once the whole process is up. */
export class BusContribution {
  /** Shown in logs and health. */
  readonly name: string;
  readonly start: (bus: Bus) => Promise<Subscription>;

  constructor(name: string, start: (bus: Bus) => Promise<Subscription>) {
    this.name = name;
    this.start = start;
  }
}

/** A provider value: a durable reader of this service. */
export const reader = (each: Reader): BusContribution => new BusContribution(each.name, (bus) => bus.subscribe(each));

/** A provider value: every process sees each event of these types; may be missed (stop events). */
export const listener = (name: string, types: readonly string[], onOffer: (offer: Offer) => void): BusContribution =>
  new BusContribution(name, (bus) => bus.listen(types, onOffer));

/** A provider value: called when some process has published something; may be missed. */
export const watcher = (name: string, onPublished: () => void): BusContribution =>
  new BusContribution(name, (bus) => bus.watch(onPublished));
