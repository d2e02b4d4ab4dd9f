//! Work in parallel, results in order, and neither of them ever far ahead of the taker.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Most results of one item that wait to be taken; the worker that makes more waits too.
const RESULTS: usize = 32;
/// Most items per worker that are begun or done and not yet taken.
const ITEMS: usize = 16;

/// Works on items in parallel and takes their results in the order of the items. `work` gives any number of results, one by one, and may
/// stop when giving says that nobody takes them any more.
///
/// What is kept is bounded however many items and results there are: an item's results go into a short queue of its own, and the queues
/// wait in a short queue. It cannot come to a standstill: items are begun in their order, so the one whose turn it is has a worker.
///
/// # Errors
/// The taker's first one; workers stop.
pub(super) fn in_order<T: Sync, R: Send>(
    items: &[T],
    workers: usize,
    work: impl Fn(&T, &mut dyn FnMut(R) -> bool) + Sync,
    mut take: impl FnMut(usize, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let workers = workers.clamp(1, items.len().max(1));
    let (turns, queue) = sync_channel(workers * ITEMS);
    let next = Arc::new(Mutex::new((0, turns)));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (next, work) = (Arc::clone(&next), &work);
            scope.spawn(move || {
                while let Some((item, results)) = begin(items, &next) {
                    work(item, &mut |result| results.send(result).is_ok());
                }
            });
        }
        // Workers alone may hold this: when all of them have panicked, nobody waits for another turn.
        drop(next);
        // Moved here so that it is dropped, and the workers stop, when taking fails.
        let queue = queue;
        for index in 0..items.len() {
            // None when a worker has panicked; the scope tells.
            let Ok(results) = queue.recv() else { break };
            for result in results {
                take(index, result)?;
            }
        }
        Ok(())
    })
}

type Turns<R> = SyncSender<Receiver<R>>;

/// The next item, if there is one and somebody takes its results. Its turn is taken in the same step, or two workers could queue up in
/// the wrong order.
fn begin<'i, T, R>(items: &'i [T], next: &Mutex<(usize, Turns<R>)>) -> Option<(&'i T, SyncSender<R>)> {
    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
    let item = items.get(next.0)?;
    next.0 += 1;
    let (sender, receiver) = sync_channel(RESULTS);
    next.1.send(receiver).ok()?;
    Some((item, sender))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_items_whoever_made_them() {
        let items: Vec<usize> = (0..500).collect();
        let mut taken = Vec::new();
        let work = |item: &usize, give: &mut dyn FnMut((usize, usize)) -> bool| {
            for piece in 0..item % 70 {
                assert!(give((*item, piece)));
            }
        };
        in_order(&items, 4, work, |index, (item, piece)| {
            assert_eq!(index, item);
            taken.push((item, piece));
            Ok(())
        })
        .unwrap();
        let expected: Vec<_> = items.iter().flat_map(|item| (0..item % 70).map(move |piece| (*item, piece))).collect();
        assert_eq!(taken, expected);
    }

    #[test]
    fn workers_are_never_far_ahead_of_the_taker() {
        let items: Vec<usize> = (0..5_000).collect();
        let made = AtomicUsize::new(0);
        let mut taken = 0;
        let work = |_: &usize, give: &mut dyn FnMut(()) -> bool| {
            for _ in 0..3 {
                made.fetch_add(1, Ordering::Relaxed);
                give(());
            }
        };
        in_order(&items, 2, work, |_, ()| {
            taken += 1;
            let ahead = made.load(Ordering::Relaxed) - taken;
            assert!(ahead <= (2 * ITEMS + 4) * 3, "{ahead} results wait");
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, 15_000);
    }

    #[test]
    fn an_error_of_the_taker_stops_the_workers() {
        let items: Vec<usize> = (0..100_000).collect();
        let made = AtomicUsize::new(0);
        let work = |_: &usize, give: &mut dyn FnMut(()) -> bool| {
            made.fetch_add(1, Ordering::Relaxed);
            give(());
        };
        assert!(in_order(&items, 3, work, |_, ()| anyhow::bail!("full")).is_err());
        assert!(made.load(Ordering::Relaxed) < 1_000);
    }

    #[test]
    fn nothing_to_do_is_done() {
        let none: [usize; 0] = [];
        let work = |_: &usize, give: &mut dyn FnMut(()) -> bool| {
            give(());
        };
        in_order(&none, 3, work, |_, ()| Ok(())).unwrap();
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn workers_that_panic_end_the_work() {
        let work = |_: &usize, _: &mut dyn FnMut(()) -> bool| panic!("as asked");
        let _ = in_order(&[1, 2, 3], 2, work, |_, ()| Ok(()));
    }
}
