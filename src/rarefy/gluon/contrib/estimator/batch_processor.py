"""What an estimator does with one batch."""

from collections.abc import Sequence
from typing import Any

from rarefy import autograd
from rarefy.context import Context
from rarefy.gluon.utils import split_and_load


class BatchProcessor:
    """Computes predictions and loss of a batch, and its gradients in training.

    Derive from it for batches of another form, or for another way from a batch to gradients.
    """

    def _get_data_and_label(self, batch: Any, ctx: Sequence[Context], batch_axis: int = 0) -> Any:
        data, label = parts_of(batch)
        return (
            split_and_load(data, ctx, batch_axis, even_split=False),
            split_and_load(label, ctx, batch_axis, even_split=False),
        )

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> tuple:
        """Evaluates on a batch.

        Returns:
          Lists of data, labels, predictions and losses, one for each device.
        """
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label, strict=True)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> tuple:
        """Computes the gradients of a batch; the update is for a handler to do.

        Returns:
          Lists of data, labels, predictions and losses, one for each device.
        """
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        autograd.backward(loss)
        return data, label, pred, loss


def parts_of(batch: Any) -> tuple[Any, Any]:
    """Data and label of a batch: a pair, or a `DataBatch` of an iterator with one of each.

    Raises:
      ValueError: it is neither.
    """
    if hasattr(batch, "data") and hasattr(batch, "label") and isinstance(batch.data, list):
        parts = (*batch.data, *(batch.label or []))
    elif isinstance(batch, list | tuple):
        parts = tuple(batch)
    else:
        parts = ()
    if len(parts) != 2:
        raise ValueError(
            f"a batch must be a pair of data and label; got {type(batch).__name__}"
            f"{f' of {len(parts)} arrays' if parts else ''}. For batches of another form derive a "
            "BatchProcessor and pass it as batch_processor="
        )
    return parts[0], parts[1]
