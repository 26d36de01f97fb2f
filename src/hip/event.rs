//! Points in a device's stream, and the time between two of them.

use super::device::Device;
use super::error::{HipError, check};
use super::table::Handle;
use crate::units::Microseconds;

/// A HIP event.
pub struct Event {
    device: Device,
    handle: Handle,
}

// SAFETY: the handle is only passed to HIP.
unsafe impl Send for Event {}
unsafe impl Sync for Event {}

impl Event {
    pub(super) fn new(device: &Device) -> Result<Self, HipError> {
        let table = device.shared.current()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check(table, "hipEventCreate", unsafe { (table.event_create)(&mut handle) })?;
        Ok(Event { device: device.clone(), handle })
    }

    /// Queues the event behind what was launched so far.
    ///
    /// # Errors
    /// The runtime's.
    pub fn record(&self) -> Result<(), HipError> {
        let table = self.device.shared.current()?;
        // SAFETY: event and stream are live.
        check(table, "hipEventRecord", unsafe {
            (table.event_record)(self.handle, self.device.shared.stream)
        })
    }

    /// Waits until the device has passed the event.
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    pub fn synchronize(&self) -> Result<(), HipError> {
        let table = self.device.shared.current()?;
        self.device.shared.wait("hipEventQuery", || {
            // SAFETY: the event is live.
            unsafe { (table.event_query)(self.handle) }
        })
    }

    /// Time between `start` and this event; both must have been recorded and passed.
    ///
    /// # Errors
    /// The runtime's, such as hipErrorNotReady.
    pub fn elapsed_since(&self, start: &Event) -> Result<Microseconds, HipError> {
        let table = self.device.shared.current()?;
        let mut ms = 0f32;
        // SAFETY: the pointer is valid for the call, both events are live.
        check(table, "hipEventElapsedTime", unsafe {
            (table.event_elapsed)(&mut ms, start.handle, self.handle)
        })?;
        Ok(Microseconds(f64::from(ms) * 1e3))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let shared = &self.device.shared;
        if !shared.is_lost()
            && let Ok(table) = shared.current()
        {
            // SAFETY: the event is live. A failure to destroy it has no remedy.
            unsafe { (table.event_destroy)(self.handle) };
        }
    }
}
